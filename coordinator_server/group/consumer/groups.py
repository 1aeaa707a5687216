"""The consumer groups of one shard, and the replay of their records."""

from __future__ import annotations

from typing import Any

from coordinator_server.group.common.group_table import GroupTable
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.group_type import Replay
from coordinator_server.machine.timeline import SnapshotRegistry
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


class ConsumerGroups(GroupTable[ConsumerGroup]):
    """The consumer groups of one shard. A group consumes the topics that its members name, or that their expressions match."""

    def __init__(self, registry: SnapshotRegistry) -> None:
        super().__init__(registry, ConsumerGroup)
        head = self.replaying(_put_head)
        self.replay: dict[type[Message], Replay] = {
            ConsumerGroupMetadataKey: head,
            ConsumerGroupPartitionMetadataKey: head,
            ConsumerGroupTargetAssignmentMetadataKey: head,
            ConsumerGroupMemberMetadataKey: self.replaying(_put_metadata),
            ConsumerGroupCurrentMemberAssignmentKey: self.replaying(_put_current),
            ConsumerGroupTargetAssignmentMemberKey: self.replaying(_put_target),
            ConsumerGroupRegularExpressionKey: self.replaying(_put_regex),
        }


def _put_head(group: ConsumerGroup, key: Message, value: Message | None) -> None:
    group.put_head(type(key), value)


def _put_metadata(group: ConsumerGroup, key: ConsumerGroupMemberMetadataKey, value: Any) -> None:
    group.put_metadata(key.member_id, value)


def _put_current(group: ConsumerGroup, key: ConsumerGroupCurrentMemberAssignmentKey, value: Any) -> None:
    group.put_current(key.member_id, value)


def _put_target(group: ConsumerGroup, key: ConsumerGroupTargetAssignmentMemberKey, value: Any) -> None:
    group.put_target(key.member_id, value)


def _put_regex(group: ConsumerGroup, key: ConsumerGroupRegularExpressionKey, value: Any) -> None:
    group.put_regex(key.regular_expression, value)
