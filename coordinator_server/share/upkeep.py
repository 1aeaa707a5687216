"""What a shard of share state does unasked: it removes the states of deleted topics, and writes snapshots of cold states.

A state is *cold* if its last snapshot is older than ``share.coordinator.cold.partition.snapshot.interval.ms``, whatever updates
followed. It gets another snapshot in each interval, unless every state of the shard has had one of these since it was last written
(``ShareCoordinatorShard.snapshotColdPartitions``).

After a load, the states of topics that do not exist are removed: the server may have ended between the deletion of a topic and that
of its states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer
from coordinator_server.share.context import ShareContext
from coordinator_server.share.passes import RETRY_MS, Pass
from coordinator_server.share.share_partition import snapshot_key, snapshot_value
from protocol.coordinator_records import CoordinatorRecord
from protocol.share_partition_names import PARTITION_AT, TOPIC_ID_AT, key_of, topic_id_of

RECONCILE_AFTER_MS: Final = 1_000
"""How long after a load the states of topics that do not exist are looked for: requests come first."""
TOPIC_DELETED: Final = "topic-deleted"
"""The reason for the removal of a state. Existing logs contain it: never change it."""
SNAPSHOT_OF_COLD: Final = "cold-partition"
"""The reason for a snapshot of a cold state. Existing logs contain it: never change it."""


class DeletedTopics:
    """Removes the states of topics that do not exist."""

    def __init__(self, context: ShareContext, timer: CoordinatorTimer) -> None:
        self._context = context
        # The topics that this pass has found. A deletion starts the pass anew.
        self._found: set[bytes] = set()
        # Whether a topic was not found while topics may have been missing.
        self._is_unsure = False
        self._pass = Pass(context.partitions, timer, TOPIC_DELETED, self._visit, self._done, because(Reason(TOPIC_DELETED)))
        # A loop that has just started may know topics that exist no longer, and lack those of states that others have written.
        self._pass.may_begin = lambda: context.topics.are_known
        self._pass.may_skip = self._all_exist

    def start(self, delay_ms: int) -> None:
        """Look for states of topics that do not exist, after a while and a delay. Called when the shard is loaded."""
        self._pass.begin_later(RECONCILE_AFTER_MS + delay_ms)

    def begin(self) -> CoordinatorResult[None]:
        """Look for them now. A pass in progress starts anew."""
        self._found.clear()
        return self._pass.begin()

    def _all_exist(self, names: Sequence[bytes]) -> bool:
        """Return whether the topics of these share partitions exist."""
        topics = self._context.topics.now
        for topic_id in {name[TOPIC_ID_AT:PARTITION_AT] for name in names} - self._found:
            if topics.topic_by_id(topic_id) is None:
                return False
            self._found.add(topic_id)
        return True

    def _visit(self, name: bytes) -> CoordinatorRecord | None:
        topic_id, topics = topic_id_of(name), self._context.topics
        if topic_id in self._found:
            return None
        if topics.now.topic_by_id(topic_id) is not None:
            self._found.add(topic_id)
            return None
        if name not in self._context.partitions:
            return None
        if not topics.are_known:
            self._is_unsure = True
            return None
        return CoordinatorRecord(snapshot_key(key_of(name)), None)

    def _done(self) -> None:
        self._found.clear()
        if self._is_unsure:
            self._is_unsure = False
            self._pass.begin_later(RETRY_MS)


class ColdStates:
    """Writes snapshots of cold states, each ``interval_ms``."""

    def __init__(self, context: ShareContext, timer: CoordinatorTimer, interval_ms: int) -> None:
        self._context = context
        self._interval_ms = interval_ms
        self._has_active = False
        self._search = Pass(context.partitions, timer, "search-active", self._look, self._searched)
        self._pass = Pass(context.partitions, timer, SNAPSHOT_OF_COLD, self._visit, self._wait, because(Reason(SNAPSHOT_OF_COLD)))

    def start(self, delay_ms: int) -> None:
        """Begin after the first interval and a delay."""
        self._search.begin_later(self._interval_ms + delay_ms)

    def _wait(self) -> None:
        self._has_active = False
        self._search.begin_later(self._interval_ms)

    def _look(self, name: bytes) -> None:
        """Note a state whose last snapshot was not one of a cold state. Those keep the time when the state was created."""
        times = self._context.partitions.timestamps(name)
        if times is not None and times[0] == times[1]:
            self._has_active = True

    def _searched(self) -> None:
        if self._has_active:
            self._pass.begin_later(0)
        else:
            self._wait()

    def _visit(self, name: bytes) -> CoordinatorRecord | None:
        partitions, now_ms = self._context.partitions, self._context.clock.wall_ms()
        times = partitions.timestamps(name)
        if times is None or now_ms - times[1] < self._interval_ms:
            return None
        state = partitions.get(name)
        assert state is not None
        cold = replace(state, snapshot_epoch=state.snapshot_epoch + 1, write_timestamp=now_ms)
        return CoordinatorRecord(snapshot_key(key_of(name)), snapshot_value(cold))
