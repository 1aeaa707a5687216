"""Deleted topics leave the share groups: their share partitions are forgotten
(``GroupMetadataManager.maybeCleanupShareGroupState``).

The shards of ``__share_group_state`` remove the states by themselves. A pass over the share groups begins when topics are
deleted, and after a load: the server may have ended between the deletion of a topic and this.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.state_topics import StateTopics, TopicsWithPartitions, state_topics_record
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

RECONCILE_AFTER_MS: Final = 1_000
"""How long after a load topics that do not exist are looked for: requests come first."""
GROUPS_PER_STEP: Final = 500
RECORDS_PER_STEP: Final = 100
STEP_INTERVAL_MS: Final = 10
RETRY_MS: Final = 1_000
_KEY: Final = ("deleted-topics-of-share-groups",)


class DeletedTopics:
    """The pass over the share groups of one shard. It begins anew when more topics are deleted."""

    def __init__(self, share: ShareContext) -> None:
        self._share = share
        self._left: Iterator[str] = iter(())
        # Whether a topic was not found while topics may have been missing.
        self._is_unsure = False

    def start(self) -> None:
        """Check after a while which topics do not exist any more. Called when the shard is loaded."""
        self._begin_after(RECONCILE_AFTER_MS)

    def begin(self) -> None:
        """Check it now, in operations of its own."""
        self._begin_after(0)

    def _begin_after(self, delay_ms: int) -> None:
        if self._share.groups.by_id:
            self._share.timer.schedule(_KEY, delay_ms, self._begin, RETRY_MS)

    @property
    def _knows(self) -> bool:
        """Whether a topic that is not found has been deleted.

        A loop that has just started may know topics that exist no longer, and lack those of groups that others have had.
        """
        return self._share.topics.is_current and self._share.has_topics

    def _begin(self) -> CoordinatorResult[Any]:
        if not self._knows:
            self._begin_after(RETRY_MS)
            return CoordinatorResult(None)
        self._left, self._is_unsure = iter(list(self._share.groups.by_id)), False
        return self._step()

    def _step(self) -> CoordinatorResult[Any]:
        records: list[CoordinatorRecord] = []
        names: dict[str, None] = {}
        seen = 0
        for group_id in islice(self._left, GROUPS_PER_STEP):
            seen += 1
            group = self._share.groups.by_id.get(group_id)
            record = None if group is None else self._record(group, names)
            if record is not None:
                records.append(record)
                if len(records) == RECORDS_PER_STEP:
                    seen = GROUPS_PER_STEP
                    break
        if seen == GROUPS_PER_STEP:
            self._share.timer.schedule(_KEY, STEP_INTERVAL_MS, self._step, RETRY_MS)
        elif self._is_unsure:
            self._begin_after(RETRY_MS)
        if not records:
            return CoordinatorResult(None)
        why = because(Reason(Why.TOPIC_DELETED, said=", ".join(names)))
        return CoordinatorResult(None, records, self._written, is_atomic=False, attribution=why)

    def _written(self, error: ErrorCode | None) -> None:
        if error is not None:
            self._begin_after(RETRY_MS)

    def _record(self, group: ShareGroup, names: dict[str, None]) -> CoordinatorRecord | None:
        """Return the record that forgets the share partitions of topics that do not exist, or None.

        Add the names of these topics.
        """
        image, known = self._share.topics, group.state_topics.value
        topic_ids = {*known.initializing, *known.initialized, *known.deleting}
        gone = {topic_id for topic_id in topic_ids if image.topic_by_id(topic_id) is None}
        if gone and not self._knows:
            self._is_unsure = True
            return None
        if not gone:
            return None
        for topics in (known.initializing, known.initialized):
            names.update({topics[topic_id].name: None for topic_id in topics if topic_id in gone})
        deleting = tuple(topic_id for topic_id in known.deleting if topic_id not in gone)
        after = StateTopics(_left(known.initializing, gone), _left(known.initialized, gone), deleting)
        return state_topics_record(group.group_id, after, image)


def _left(topics: TopicsWithPartitions, gone: set[bytes]) -> TopicsWithPartitions:
    return {topic_id: topic for topic_id, topic in topics.items() if topic_id not in gone}
