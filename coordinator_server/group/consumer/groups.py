"""The consumer groups of one shard, and the replay of their records."""

from __future__ import annotations

from typing import Any

from coordinator_server.group.common.group_table import GroupTable, of_member
from coordinator_server.group.common.modern_group import put_head
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
        head = self.replaying(put_head)
        self.replay: dict[type[Message], Replay] = {
            ConsumerGroupMetadataKey: head,
            ConsumerGroupPartitionMetadataKey: head,
            ConsumerGroupTargetAssignmentMetadataKey: head,
            ConsumerGroupMemberMetadataKey: self.replaying(of_member(ConsumerGroup.put_metadata)),
            ConsumerGroupCurrentMemberAssignmentKey: self.replaying(of_member(ConsumerGroup.put_current)),
            ConsumerGroupTargetAssignmentMemberKey: self.replaying(of_member(ConsumerGroup.put_target)),
            ConsumerGroupRegularExpressionKey: self.replaying(_put_regex),
        }


def _put_regex(group: ConsumerGroup, key: ConsumerGroupRegularExpressionKey, value: Any) -> None:
    group.put_regex(key.regular_expression, value)
