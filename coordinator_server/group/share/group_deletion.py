"""The deletion of share groups: the states of their share partitions first, then the groups
(``GroupCoordinatorService.deleteGroups``).

    DeleteGroups ── records: all topics deleting ── durable ──► messages to the shards that keep the states
    answer ◄── durable ── tombstones ◄── all of them done, or refused ◄──┘

Groups without states are deleted as others are, in the same answer. Of a group that gets a member or offsets meanwhile, and stays,
a record says instead that none of its topics is deleting any more. So does one after tombstones that the log has refused. If the
server ends in between, or the shard is unloaded, the group exists after the load: the states of topics that are still deleting are
deleted then, and the group stays until it is deleted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.deletion import RETRY_MS, delete_states, deleted_record
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.offsets import is_changing
from coordinator_server.group.share.state_messages import SharePartition
from coordinator_server.group.share.state_topics import StateTopics, combine, state_topics_record
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

Then: TypeAlias = Callable[[Mapping[str, ErrorCode]], None]
"""Called with the errors of groups whose states could not be deleted."""


def has_states(share: ShareContext, group_id: str) -> bool:
    """Return whether share partitions of a group have a state, are about to get one, or messages about them are under way."""
    group = share.groups.by_id.get(group_id)
    if group is None:
        return False
    return is_changing(share, group) or any(topic.partitions for topic in group.state_topics.value.initialized.values())


class StatesOfGroups:
    """The states of the share groups of one request, and the records that say that they are about to be deleted."""

    def __init__(self, share: ShareContext, group_ids: Iterable[str]) -> None:
        self._share = share
        self.records: list[CoordinatorRecord] = []
        # Groups whose states change: they cannot be deleted now.
        self.changing: list[str] = []
        self._partitions: dict[str, Partitions] = {}
        self._left: set[str] = set()
        self._errors: dict[str, ErrorCode] = {}
        for group_id in group_ids:
            group = share.groups.by_id.get(group_id)
            if group is None or group.members:
                continue
            if is_changing(share, group):
                self.changing.append(group_id)
            elif group.has_state_record:
                self._add(group)

    def _add(self, group: ShareGroup) -> None:
        known, image = group.state_topics.value, self._share.topics
        candidates = combine(known.initialized, known.initializing)
        partitions: Partitions = {topic_id: topic.partitions for topic_id, topic in candidates.items() if topic.partitions}
        for topic_id in known.deleting:
            topic = image.topic_by_id(topic_id)
            if topic is not None:
                partitions[topic_id] = list(range(topic.partitions))
        self.records.append(state_topics_record(group.group_id, StateTopics(deleting=tuple(partitions)), image))
        if partitions:
            self._partitions[group.group_id] = partitions

    def delete(self, then: Then) -> None:
        """Send the messages, when the records are durable; call ``then`` when all have been answered."""
        self._left = set(self._partitions)
        if not self._left:
            then({})
        for group_id, partitions in self._partitions.items():
            delete_states(self._share, group_id, partitions, partial(self._finish, group_id, then))

    def closed(self, group_ids: Iterable[str]) -> list[CoordinatorRecord]:
        """Return the records of groups that stay although their states are deleted."""
        found = [(name, self._share.groups.by_id.get(name)) for name in group_ids if name not in self._errors]
        return [
            deleted_record(self._share, group, self._partitions[group_id])
            for group_id, group in found
            if group is not None and group_id in self._partitions and group.state_topics.value.deleting
        ]

    def close_later(self, known: Mapping[str, StateTopics]) -> None:
        """Write the same when the log has refused the tombstones, which only an operation of its own can.

        ``known`` is what ``topics`` returned before. A group of which somebody has changed that since is left to them.
        """
        self._share.timer.schedule(("close-deletions", id(self)), 0, partial(self._close, known), RETRY_MS)

    def topics(self) -> Mapping[str, StateTopics]:
        """Return the topics of the groups whose states are deleted."""
        found = [(name, self._share.groups.by_id.get(name)) for name in self._partitions]
        return {name: group.state_topics.value for name, group in found if group is not None}

    def _close(self, known: Mapping[str, StateTopics]) -> CoordinatorResult[Any]:
        present = self.topics()
        records = self.closed(name for name, topics in known.items() if present.get(name) is topics)
        return CoordinatorResult(None, records, attribution=because(Reason(Why.OFFSETS_DELETED)))

    def _finish(self, group_id: str, then: Then, errors: Mapping[SharePartition, ErrorCode]) -> CoordinatorResult[Any]:
        for error in errors.values():
            self._errors[group_id] = error
        return CoordinatorResult(None, on_append=partial(self._finished, group_id, then))

    def _finished(self, group_id: str, then: Then, error: ErrorCode | None) -> None:
        if error is None and group_id in self._left:
            self._left.remove(group_id)
            if not self._left:
                then(self._errors)
