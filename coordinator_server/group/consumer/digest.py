"""The records of a consumer group from its state, and their digest items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from coordinator_server.group.common.record_digest import item_name, record_digest
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import NO_ASSIGNMENT, NO_METADATA
from protocol.fields import Message
from protocol.messages.consumer_group_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
)


class StoredRecord(NamedTuple):
    """One record of a group. ``rest`` is the part of its key after the group id."""

    key_type: type[Message]
    rest: str
    value: Message


def records_at(group: ConsumerGroup, committed_offset: int) -> Iterator[StoredRecord]:
    """Yield the group's records as of ``committed_offset``, with exactly the values that were replayed."""
    for key_type, value in group.head.items_at(committed_offset):
        yield StoredRecord(key_type, "", value)
    for member_id, member in group.members.items_at(committed_offset):
        if member.metadata is not NO_METADATA:
            yield StoredRecord(ConsumerGroupMemberMetadataKey, member_id, member.metadata)
        if member.current is not NO_ASSIGNMENT:
            yield StoredRecord(ConsumerGroupCurrentMemberAssignmentKey, member_id, member.current)
    for member_id, target in group.targets.items_at(committed_offset):
        yield StoredRecord(ConsumerGroupTargetAssignmentMemberKey, member_id, target.value)
    for regex, resolved in group.regexes.items_at(committed_offset):
        yield StoredRecord(ConsumerGroupRegularExpressionKey, regex, resolved)


def digest_items(group: ConsumerGroup, committed_offset: int) -> dict[str, int]:
    """Return the hash of each record of the group by name."""
    return {
        item_name(record.key_type, record.rest): record_digest(_key(group.group_id, record), record.value)
        for record in records_at(group, committed_offset)
    }


def digest_containers(group: ConsumerGroup) -> tuple[object, ...]:
    """Return the containers that ``digest_items`` reads."""
    return group.head, group.members, group.targets, group.regexes


def _key(group_id: str, record: StoredRecord) -> Message:
    key_type = record.key_type
    return key_type(group_id, record.rest) if len(key_type.__struct_fields__) > 1 else key_type(group_id)
