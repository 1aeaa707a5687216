"""The share groups of one shard, and the replay of their records."""

from __future__ import annotations

from typing import Any

from coordinator_server.group.common.group_table import GroupTable
from coordinator_server.group.group_type import Replay
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.machine.timeline import SnapshotRegistry
from protocol.fields import Message
from protocol.messages.share_group_records import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupMemberMetadataKey,
    ShareGroupMetadataKey,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMetadataKey,
)


class ShareGroups(GroupTable[ShareGroup]):
    """The share groups of one shard. A group consumes the topics that its members name."""

    def __init__(self, registry: SnapshotRegistry) -> None:
        super().__init__(registry, ShareGroup)
        head = self.replaying(_put_head)
        self.replay: dict[type[Message], Replay] = {
            ShareGroupMetadataKey: head,
            ShareGroupTargetAssignmentMetadataKey: head,
            ShareGroupStatePartitionMetadataKey: head,
            ShareGroupMemberMetadataKey: self.replaying(_put_metadata),
            ShareGroupCurrentMemberAssignmentKey: self.replaying(_put_current),
            ShareGroupTargetAssignmentMemberKey: self.replaying(_put_target),
        }


def _put_head(group: ShareGroup, key: Message, value: Message | None) -> None:
    group.put_head(type(key), value)


def _put_metadata(group: ShareGroup, key: ShareGroupMemberMetadataKey, value: Any) -> None:
    group.put_metadata(key.member_id, value)


def _put_current(group: ShareGroup, key: ShareGroupCurrentMemberAssignmentKey, value: Any) -> None:
    group.put_current(key.member_id, value)


def _put_target(group: ShareGroup, key: ShareGroupTargetAssignmentMemberKey, value: Any) -> None:
    group.put_target(key.member_id, value)
