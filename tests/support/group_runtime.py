"""A GroupShard in its runtime, over a log that is done with what it was given when a test says so, and not before."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from coordinator_server.group.common.settings import SettingsOfGroups
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.shard import GroupShard
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.shard import RequestContext
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.runtime.deadlines import Deadlines
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.loader import replay_batch
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.runtime.services import LoopServices, ShardServices, following
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from protocol.coordinator_records import GROUP_SERDE
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from tests.support.clock import BusyClock, ManualClock
from tests.support.configs import config_with
from tests.support.runtime import MemoryStore, Outcome

COMMIT = WriteOperation("commit", GroupShard.commit_offsets)
DELETE = WriteOperation("delete", GroupShard.delete_offsets)


def _fire(timer: Timer) -> None:
    timer.operation()


class GroupRuntime:
    """One shard, partition 0."""

    def __init__(self, *, coalesces: bool = False, max_batch_bytes: int = 1 << 20, deadline_ms: int = 0) -> None:
        self.store = MemoryStore()
        self.clock = ManualClock()
        self.timers = TimerQueue()
        self.shard_id = ShardId("__consumer_offsets", 0)
        self._soon: list[Callable[[], None]] = []
        self._ids = count(1)
        flusher = Flusher(self.store, self._soon.append, lambda error: pytest.fail(str(error)))
        if deadline_ms:
            Deadlines(flusher, ShardTimers(self.timers, self.clock, _fire), deadline_ms)
        services = LoopServices(
            self.store, flusher, self.timers, self.clock, LoadQueue(self._soon.append, BusyClock()), has_provenance=False
        )
        self.runtime: CoordinatorRuntime[GroupShard] = CoordinatorRuntime(
            "__consumer_offsets", GROUP_SERDE, self._build, services, max_batch_bytes=max_batch_bytes, coalesces=coalesces
        )
        self.runtime.load(0, 1)
        self.turn()

    def _build(self, *, partition: int, registry: SnapshotRegistry, services: ShardServices) -> GroupShard:
        config = config_with(group_initial_rebalance_delay_ms=0)
        context = GroupContext(config, services.timer, self.clock, lambda: str(next(self._ids)), SettingsOfGroups(config))
        return GroupShard(context, registry)

    def ask(self, operation: WriteOperation[GroupShard, Any, Any], request: object, version: int) -> Outcome:
        """Run a request."""
        outcome = Outcome()
        self.runtime.write(0, operation, RequestContext("c", "h", 0, version), request, outcome)
        return outcome

    def commit_alone(self, group: str, positions: dict[str, dict[int, int]]) -> Outcome:
        """A commit without membership."""
        topics = [
            OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(*each) for each in offsets.items()])
            for topic, offsets in positions.items()
        ]
        return self.ask(COMMIT, OffsetCommitRequest(group, topics=topics), 8)

    def delete_offsets(self, group: str, topic: str, partitions: list[int]) -> Outcome:
        """An administrator's OffsetDelete."""
        asked = OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(one) for one in partitions])
        return self.ask(DELETE, OffsetDeleteRequest(group, [asked]), 0)

    def turn(self) -> None:
        """Turns of the loop, until there is nothing more to do in one."""
        while self._soon:
            soon = self._soon[:]
            self._soon.clear()
            for callback in soon:
                callback()

    def finish(self) -> None:
        """The log is done with all that it was given, and with what came meanwhile."""
        self.turn()
        while self.store.open is not None:
            self.store.finish()
            self.turn()

    def pass_time(self, ms: int) -> None:
        """Time passes, and timers that are due fire."""
        self.clock.advance(ms)
        self.timers.run(self.clock.now_ms())

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        """What a group has, as committed."""
        answer = self.runtime.read(0, GroupShard.fetch_offsets, OffsetFetchRequestGroup(group, topics=None)).answer()
        return {(topic.name, one.partition_index): one.committed_offset for topic in answer.topics for one in topic.partitions}

    def replayed(self) -> dict[tuple[str, str, int], int]:
        """What all groups have when the log is read from its beginning: group, topic and partition."""
        timers = ShardTimers(TimerQueue(), self.clock, lambda timer: None)
        shard = self._build(partition=0, registry=SnapshotRegistry(), services=following(timers))
        for batch in self.store.logs.get(self.shard_id, []):
            replay_batch(batch, GROUP_SERDE, shard)
        offsets = shard.groups.offsets
        return {
            (group, *position): committed.committed_offset
            for group in offsets.groups_at(LATEST)
            for position, committed in (offsets.of_group_at(group, LATEST) or {}).items()
        }
