"""Deletes the committed offsets of deleted topics (``OffsetMetadataManager.onPartitionsDeleted``).

A pass checks the groups of the shard in bounded steps, like offset expiry. Before it ends, a topic of the same name may be
created and get commits: an offset with a different topic id is kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.group.expiry import NEXT_STEP_MS, OFFSETS_PER_STEP, RECORDS_PER_STEP
from coordinator_server.group.registry import Groups
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer
from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.delete import tombstone
from coordinator_server.offsets.store import TopicPartition
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID

TIMER_KEY: Final = ("delete-topics",)
RETRY_MS: Final = 1_000


class TopicDeletion:
    """The deletion passes over one shard."""

    def __init__(self, groups: Groups, timer: CoordinatorTimer) -> None:
        self._groups = groups
        self._timer = timer
        self._left: deque[str] = deque()
        # The ids of the deleted topics, by name.
        self._topics: dict[str, set[bytes]] = {}

    def begin(self, topics: Sequence[DeletedTopic]) -> CoordinatorResult[None]:
        """Start a pass and run its first step. A pass in progress restarts with the additional topics."""
        if not self._left:
            self._topics.clear()
        for topic in topics:
            self._topics.setdefault(topic.name, {ZERO_UUID}).add(topic.topic_id)
        self._left = self._all()
        return self._step()

    def _all(self) -> deque[str]:
        groups = self._groups
        return deque(dict.fromkeys([*groups.ids(), *groups.pending.groups_at(LATEST)]))

    def _step(self) -> CoordinatorResult[None]:
        records: list[CoordinatorRecord] = []
        looked_at = 0
        left = self._left
        while left and looked_at < OFFSETS_PER_STEP and len(records) < RECORDS_PER_STEP:
            group_id = left[0]
            found, size = self._offsets(group_id)
            looked_at += size + 1
            room = RECORDS_PER_STEP - len(records)
            records += [tombstone(group_id, *position) for position in found[:room]]
            if len(found) <= room:
                left.popleft()
                if found and len(found) == self._groups.offsets_of(group_id):
                    records += self._groups.type_of(group_id).outliving_records(group_id)
        if left:
            self._timer.schedule(TIMER_KEY, NEXT_STEP_MS, self._step)
        said = ", ".join(self._topics)
        return CoordinatorResult(
            None, records, self._written, is_atomic=False, attribution=because(Reason(Why.TOPIC_DELETED, said=said))
        )

    def _written(self, error: ErrorCode | None) -> None:
        """Restart the pass if records could not be written."""
        if error is not None:
            self._left = self._all()
            self._timer.schedule(TIMER_KEY, RETRY_MS, self._step)

    def _offsets(self, group_id: str) -> tuple[list[TopicPartition], int]:
        """Return the partitions of a group whose offsets are to be deleted, and the number of offsets checked."""
        groups, topics = self._groups, self._topics
        offsets = groups.offsets.of_group_at(group_id, LATEST)
        committed = [] if offsets is None else list(offsets.items())
        found = [position for position, offset in committed if offset.topic_id in topics.get(position[0], ())]
        pending = groups.pending.of_group_at(group_id, LATEST)
        opened = [each for _, held in pending for each, offset in held.items() if offset.topic_id in topics.get(each[0], ())]
        return list(dict.fromkeys([*found, *opened])), len(committed) + len(opened)
