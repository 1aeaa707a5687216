"""The share groups of one shard, and the replay of their records."""

from __future__ import annotations

from coordinator_server.group.common.group_table import GroupTable, of_member
from coordinator_server.group.common.modern_group import put_head
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
        head = self.replaying(put_head)
        self.replay: dict[type[Message], Replay] = {
            ShareGroupMetadataKey: head,
            ShareGroupTargetAssignmentMetadataKey: head,
            ShareGroupStatePartitionMetadataKey: head,
            ShareGroupMemberMetadataKey: self.replaying(of_member(ShareGroup.put_metadata)),
            ShareGroupCurrentMemberAssignmentKey: self.replaying(of_member(ShareGroup.put_current)),
            ShareGroupTargetAssignmentMemberKey: self.replaying(of_member(ShareGroup.put_target)),
        }
