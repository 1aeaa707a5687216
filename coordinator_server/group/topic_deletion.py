"""Deletes the committed offsets of deleted topics (``OffsetMetadataManager.onPartitionsDeleted``).

A shard that is loaded while a topic is deleted, or between two owners, does not learn of that: the pass after a load is for the
topics that were deleted while this process ran. An offset without a topic id may be of a newer topic then, and stays.

A pass checks the groups of the shard in bounded steps, like offset expiry, also within a group. Before it ends, a topic of the
same name may be created and get commits: an offset with a different topic id is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.pass_step import PassStep
from coordinator_server.group.registry import Groups
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.cursor import OffsetCursor
from coordinator_server.offsets.store import TopicPartition
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID

TIMER_KEY: Final = ("delete-topics",)
RETRY_MS: Final = 1_000


class TopicDeletion:
    """The deletion passes over one shard."""

    def __init__(self, groups: Groups, context: GroupContext) -> None:
        self._groups = groups
        self._context = context
        self._timer = context.timer
        # The groups that the pass has not reached; None between passes.
        self._left: Iterator[str] | None = None
        # The place within the group that the pass is in.
        self._cursor: OffsetCursor | None = None
        # The ids of the deleted topics, by name.
        self._topics: dict[str, set[bytes]] = {}

    def start(self) -> None:
        """Start a pass after a load, if there may be something to delete."""
        for topic in self._context.topics.deleted:
            self._topics.setdefault(topic.name, set()).add(topic.topic_id)
        if self._topics:
            self._restart()
            self._timer.schedule(TIMER_KEY, self._context.pass_times.reserve(self._context.clock.now_ms()), self._step)

    def begin(self, topics: Sequence[DeletedTopic]) -> CoordinatorResult[None]:
        """Start a pass, and run its first step if it may run at once. A pass in progress restarts with the additional topics."""
        if self._left is None:
            self._topics.clear()
        for topic in topics:
            self._topics.setdefault(topic.name, set()).update((ZERO_UUID, topic.topic_id))
        self._restart()
        if self._timer.is_scheduled(TIMER_KEY):
            return CoordinatorResult(None)
        delay_ms = self._context.pass_times.reserve(self._context.clock.now_ms())
        if delay_ms == 0:
            return self._step()
        self._timer.schedule(TIMER_KEY, delay_ms, self._step)
        return CoordinatorResult(None)

    def _restart(self) -> None:
        self._left, self._cursor = self._group_ids(), None

    def _group_ids(self) -> Iterator[str]:
        """Yield every group at least once, and those that have only pending offsets."""
        pending = dict.fromkeys(self._groups.pending.by_group)
        for group_id in self._groups.ids():
            pending.pop(group_id, None)
            yield group_id
        yield from pending

    def _step(self) -> CoordinatorResult[None]:
        step = PassStep()
        while step.room > 0 and self._left is not None:
            if self._cursor is not None:
                self._go_on(self._cursor, step)
            elif (group_id := next(self._left, None)) is not None:
                self._cursor = OffsetCursor(group_id)
            else:
                self._left = None
        if self._left is not None:
            self._timer.schedule(TIMER_KEY, self._context.pass_times.after_step(self._context.clock.now_ms()), self._step)
        why = because(Reason(Why.TOPIC_DELETED, said=", ".join(self._topics)))
        return CoordinatorResult(None, step.records, self._written, is_atomic=False, attribution=why)

    def _written(self, error: ErrorCode | None) -> None:
        """Restart the pass if records could not be written."""
        if error is not None:
            self._restart()
            self._timer.schedule(TIMER_KEY, RETRY_MS, self._step)

    def _go_on(self, cursor: OffsetCursor, step: PassStep) -> None:
        """Check the next offsets of the group."""
        groups, group_id = self._groups, cursor.group_id
        if not step.is_ready(cursor, groups.offsets, groups.pending.open_now(group_id)):
            return
        deleted = step.delete(cursor, self._is_of_deleted_topic(group_id))
        if cursor:
            return
        self._cursor = None
        if deleted and deleted == groups.offsets_of(group_id):
            step.records += groups.type_of(group_id).outliving_records(group_id)

    def _is_of_deleted_topic(self, group_id: str) -> Callable[[TopicPartition], bool]:
        topics, pending = self._topics, self._groups.pending
        offsets = self._groups.offsets.of_group_at(group_id, LATEST)

        def is_of_deleted_topic(position: TopicPartition) -> bool:
            ids = topics.get(position[0])
            if ids is None:
                return False
            committed = None if offsets is None else offsets.get(position)
            if committed is not None and committed.topic_id in ids:
                return True
            return any(each.topic_id in ids for each in pending.of_position(group_id, position))

        return is_of_deleted_topic
