"""The records of a share group from its state, and their digest items."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator_server.group.common.record_digest import item_name, record_digest
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.member import NO_ASSIGNMENT, NO_METADATA
from protocol.fields import Message
from protocol.messages.share_group_records import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupMemberMetadataKey,
    ShareGroupTargetAssignmentMemberKey,
)


def records_at(group: ShareGroup, committed_offset: int) -> Iterator[tuple[Message, Message]]:
    """Yield the group's records as of ``committed_offset``, with exactly the values that were replayed."""
    group_id = group.group_id
    for key_type, value in group.head.items_at(committed_offset):
        yield key_type(group_id), value
    for member_id, member in group.members.items_at(committed_offset):
        if member.metadata is not NO_METADATA:
            yield ShareGroupMemberMetadataKey(group_id, member_id), member.metadata
        if member.current is not NO_ASSIGNMENT:
            yield ShareGroupCurrentMemberAssignmentKey(group_id, member_id), member.current
    for member_id, target in group.targets.items_at(committed_offset):
        yield ShareGroupTargetAssignmentMemberKey(group_id, member_id), target.value


def digest_items(group: ShareGroup, committed_offset: int) -> dict[str, int]:
    """Return the hash of each record of the group by name."""
    return {
        item_name(type(key), getattr(key, "member_id", "")): record_digest(key, value)
        for key, value in records_at(group, committed_offset)
    }


def digest_containers(group: ShareGroup) -> tuple[object, ...]:
    """Return the containers that ``digest_items`` reads."""
    return group.head, group.members, group.targets
