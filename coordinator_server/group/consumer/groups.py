"""The consumer groups of one shard, and the replay of their records."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.group_type import Replay
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict, TimelineValue
from protocol.fields import Message
from protocol.messages.consumer_group_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
)

_HEAD: Final[tuple[type[Message], ...]] = (
    ConsumerGroupMetadataKey,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupTargetAssignmentMetadataKey,
)


class ConsumerGroups:
    """The consumer groups of one shard by id, and the groups that consume each topic."""

    __slots__ = ("_by_topic", "_registry", "by_id", "member_bytes")

    def __init__(self, registry: SnapshotRegistry) -> None:
        self._registry = registry
        self.by_id: TimelineDict[str, ConsumerGroup] = TimelineDict(registry)
        # About what the members of all groups take in memory.
        self.member_bytes = TimelineValue(registry, 0)
        self._by_topic: TimelineDict[str, TimelineDict[str, None]] = TimelineDict(registry)

    def subscribed_to(self, topic: str) -> Collection[str]:
        """Return the groups that name a topic, or have a regular expression that matches it, in the latest state."""
        return self._by_topic.get(topic, ())

    def absent(self, group_id: str) -> ConsumerGroup:
        """Return an empty group that is not in the table, for an operation that creates it by its records."""
        return ConsumerGroup(group_id, self._registry, self._by_topic, self.member_bytes)

    @property
    def reverts(self) -> int:
        """Return how many times hard state was reverted."""
        return self._registry.reverts

    @property
    def replay(self) -> dict[type[Message], Replay]:
        """The replay functions, by type of the record key."""
        return {
            **dict.fromkeys(_HEAD, self._replay_head),
            ConsumerGroupMemberMetadataKey: self._replay_metadata,
            ConsumerGroupCurrentMemberAssignmentKey: self._replay_current,
            ConsumerGroupTargetAssignmentMemberKey: self._replay_target,
            ConsumerGroupRegularExpressionKey: self._replay_regex,
        }

    def _replay_head(self, offset: int, key: Any, value: Any) -> None:
        group = self._changing(offset, key.group_id, value)
        if group is not None:
            group.put_head(type(key), value)
            self._end(group, value)

    def _replay_metadata(self, offset: int, key: ConsumerGroupMemberMetadataKey, value: Any) -> None:
        group = self._changing(offset, key.group_id, value)
        if group is not None:
            group.put_metadata(key.member_id, value)
            self._end(group, value)

    def _replay_current(self, offset: int, key: ConsumerGroupCurrentMemberAssignmentKey, value: Any) -> None:
        group = self._changing(offset, key.group_id, value)
        if group is not None:
            group.put_current(key.member_id, value)
            self._end(group, value)

    def _replay_target(self, offset: int, key: ConsumerGroupTargetAssignmentMemberKey, value: Any) -> None:
        group = self._changing(offset, key.group_id, value)
        if group is not None:
            group.put_target(key.member_id, value)
            self._end(group, value)

    def _replay_regex(self, offset: int, key: ConsumerGroupRegularExpressionKey, value: Any) -> None:
        group = self._changing(offset, key.group_id, value)
        if group is not None:
            group.put_regex(key.regular_expression, value)
            self._end(group, value)

    def _changing(self, offset: int, group_id: str, value: Message | None) -> ConsumerGroup | None:
        group = self.by_id.get(group_id)
        if group is None:
            if value is None:
                return None
            group = self.by_id[group_id] = ConsumerGroup(group_id, self._registry, self._by_topic, self.member_bytes)
        group.end_offset.set(offset + 1)
        return group

    def _end(self, group: ConsumerGroup, value: Message | None) -> None:
        if value is None and not group.is_in_log:
            del self.by_id[group.group_id]
