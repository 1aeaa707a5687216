"""The record types of share groups."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.modern.limits import texts_bytes
from coordinator_server.group.modern.records import GroupRecords, target_of_topics
from coordinator_server.group.share.member import NO_ASSIGNMENT, NO_METADATA
from protocol.messages import share_group_records as share


def _metadata_bytes(metadata: share.ShareGroupMemberMetadataValue) -> int:
    return texts_bytes((metadata.rack_id, metadata.client_id, metadata.client_host), metadata.subscribed_topic_names)


RECORDS: Final = GroupRecords(
    type_name="share",
    epoch_key=share.ShareGroupMetadataKey,
    epoch_value=share.ShareGroupMetadataValue,
    target_epoch_key=share.ShareGroupTargetAssignmentMetadataKey,
    target_epoch_value=share.ShareGroupTargetAssignmentMetadataValue,
    member_key=share.ShareGroupMemberMetadataKey,
    current_key=share.ShareGroupCurrentMemberAssignmentKey,
    target_key=share.ShareGroupTargetAssignmentMemberKey,
    target_form=target_of_topics(share.ShareGroupTargetAssignmentMemberValue, share.TopicPartition),
    no_epoch=share.ShareGroupMetadataValue(epoch=1),
    no_target_epoch=share.ShareGroupTargetAssignmentMetadataValue(assignment_epoch=1),
    no_metadata=NO_METADATA,
    no_current=NO_ASSIGNMENT,
    metadata_bytes=_metadata_bytes,
)
