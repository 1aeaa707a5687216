"""Time is that of the running server: neither a wall clock that jumps nor a process that stood still
evicts a member or expires an offset.

Here with the real state machine of groups in the real runtime; ``tests/integration/test_restart.py`` stops a real process.
"""

from __future__ import annotations

from typing import Any, cast

import pytest

from coordinator_server.group.common.settings import SettingsOfGroups
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.shard import RequestContext
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.runtime.services import LoopServices, ShardServices
from coordinator_server.runtime.timers import TimerQueue
from protocol.coordinator_records import CLASSIC_GROUP_SERDE
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.support.clock import ManualClock
from tests.support.configs import config_with
from tests.support.runtime import MemoryStore, Outcome

YEAR_MS = 365 * 24 * 3600 * 1000
SESSION_MS = 6000
CHECK_MS = 600_000
CLIENT = RequestContext("client", "127.0.0.1", 11, 3)

JOIN = WriteOperation("classic-group-join", GroupShard.join_group)
SYNC = WriteOperation("classic-group-sync", GroupShard.sync_group)
HEARTBEAT = WriteOperation("classic-group-heartbeat", GroupShard.heartbeat)
COMMIT = WriteOperation("commit-offset", GroupShard.commit_offsets)


class World:
    """One shard with a stable group of one member, `alive`, and a simple group, `simple`, with one offset."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.timers = TimerQueue()
        self._soon: list[Any] = []
        store = MemoryStore()
        store.is_instant = True
        flusher = Flusher(store, self._soon.append, lambda failure: None)
        self.runtime: CoordinatorRuntime[GroupShard] = CoordinatorRuntime(
            "__consumer_offsets",
            CLASSIC_GROUP_SERDE,
            self._build,
            LoopServices(store, flusher, self.timers, self.clock, LoadQueue(self._soon.append, self.clock), has_provenance=False),
            max_batch_bytes=1 << 20,
        )
        self.runtime.load(0, 1)
        self.finish_writes()
        protocols = [JoinGroupRequestProtocol("range", b"")]
        join = JoinGroupRequest("alive", SESSION_MS, SESSION_MS, protocol_type="consumer", protocols=protocols)
        joined = self.ask(JOIN, join)
        self.member_id, self.generation_id = joined.member_id, joined.generation_id
        assignments = [SyncGroupRequestAssignment(self.member_id, b"all")]
        self.ask(SYNC, SyncGroupRequest("alive", self.generation_id, self.member_id, assignments=assignments))
        for group_id, generation_id, member_id in (("alive", self.generation_id, self.member_id), ("simple", -1, "")):
            topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])]
            self.ask(COMMIT, OffsetCommitRequest(group_id, generation_id, member_id, topics=topics))

    def _build(self, *, partition: int, registry: SnapshotRegistry, services: ShardServices) -> GroupShard:
        config = config_with(group_initial_rebalance_delay_ms=0, offsets_retention_check_interval_ms=CHECK_MS)
        context = GroupContext(config, services.timer, self.clock, lambda: "id", SettingsOfGroups(config))
        return GroupShard(context, registry)

    def finish_writes(self) -> None:
        """Timers that are due, and turns of the loop until there is nothing to do."""
        self.timers.run(self.clock.now_ms())
        while self._soon:
            soon, self._soon[:] = self._soon[:], []
            for callback in soon:
                callback()

    def ask(self, operation: WriteOperation[GroupShard, Any, Any], request: Any) -> Any:
        """The response, or the error that stands for it."""
        outcome = Outcome()
        self.runtime.write(0, operation, CLIENT, request, outcome)
        self.finish_writes()
        self.finish_writes()
        return outcome.response if outcome.error is None else outcome.error

    def heartbeat(self) -> ErrorCode:
        answer = self.ask(HEARTBEAT, HeartbeatRequest("alive", self.generation_id, self.member_id))
        return answer if isinstance(answer, ErrorCode) else ErrorCode(cast(HeartbeatResponse, answer).error_code)

    def offset(self, group_id: str) -> int:
        answer = self.runtime.read(0, GroupShard.fetch_offsets, OffsetFetchRequestGroup(group_id, topics=None)).answer()
        return answer.topics[0].partitions[0].committed_offset if answer.topics else -1

    def run(self, ms: int, heartbeat_every_ms: int = 0) -> None:
        """The server runs; perhaps the member heartbeats."""
        step = heartbeat_every_ms or 1000
        for _ in range(ms // step):
            self.clock.advance(step)
            self.finish_writes()
            if heartbeat_every_ms:
                assert self.heartbeat() == ErrorCode.NONE


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("jump_ms", [YEAR_MS, -YEAR_MS], ids=["ahead", "back"])
def test_a_jump_of_the_wall_clock_by_a_year_evicts_nobody(world: World, jump_ms: int) -> None:
    world.run(3000)
    world.clock.jump_wall(jump_ms)
    world.run(2000)

    assert world.heartbeat() == ErrorCode.NONE
    world.run(10 * SESSION_MS, heartbeat_every_ms=3000)


@pytest.mark.parametrize("jump_ms", [YEAR_MS, -YEAR_MS], ids=["ahead", "back"])
def test_a_jump_of_the_wall_clock_by_a_year_expires_nothing(world: World, jump_ms: int) -> None:
    world.clock.jump_wall(jump_ms)
    world.run(2 * CHECK_MS, heartbeat_every_ms=3000)

    assert (world.offset("alive"), world.offset("simple")) == (5, 5)


def test_a_jump_of_the_wall_clock_keeps_nobody_alive_either(world: World) -> None:
    world.clock.jump_wall(-YEAR_MS)
    world.run(SESSION_MS)

    assert world.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("stops", [1, 3])
def test_a_process_that_stood_still_for_ten_sessions_evicts_nobody_who_was_alive(world: World, stops: int) -> None:
    """What ``LoopTimers`` does when its tick comes late, as often as it happens."""
    for _ in range(stops):
        world.run(3000)
        world.clock.advance(10 * SESSION_MS)
        world.timers.grant_fresh_start(world.clock.now_ms())
        world.finish_writes()
    world.run(SESSION_MS - 1000)

    assert world.heartbeat() == ErrorCode.NONE
    assert world.offset("simple") == 5


def test_who_stays_silent_after_the_server_goes_on_is_out_a_session_later(world: World) -> None:
    world.clock.advance(10 * SESSION_MS)
    world.timers.grant_fresh_start(world.clock.now_ms())
    world.run(SESSION_MS)

    assert world.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    assert world.runtime.read(0, GroupShard.describe_group, "alive").group_state == "Empty"
