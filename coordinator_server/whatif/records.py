"""The records of groups that are about members: generations, subscriptions, targets. Commits are passed over undecoded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from coordinator_server.machine.provenance import Provenance, attributed
from coordinator_server.pipeline.index.split import group_of
from protocol.coordinator_records import GROUP_SERDE
from protocol.fields import Message
from protocol.messages.consumer_group_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
)
from protocol.messages.group_records import GroupMetadataKey
from protocol.record_batch import BatchHeader, iter_records

CONSUMER_KEYS: Final = (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
)
_KEYS: Final = (GroupMetadataKey, *CONSUMER_KEYS)
_TYPE_BYTES: Final = 2
_TYPES: Final = frozenset(number for number, pair in GROUP_SERDE.types.items() if pair[0] in _KEYS)


class MemberRecord(NamedTuple):
    """A record of a group, decoded. ``value`` is None for a tombstone, ``provenance`` if its writer is unknown."""

    group_id: str
    offset: int
    at_ms: int
    key: Message
    value: Message | None
    provenance: Provenance | None


def may_have_member_records(data: bytes, group_id: str) -> bool:
    """Return whether batches that are not compressed may have records about the members of a group. False is certain."""
    encoded = group_id.encode()
    rest = len(encoded).to_bytes(_TYPE_BYTES) + encoded
    return any(number.to_bytes(_TYPE_BYTES) + rest in data for number in _TYPES)


def member_records(data: bytes, position: int, header: BatchHeader, group_id: str | None = None) -> Iterator[MemberRecord]:
    """Return the records of a verified batch that are about members, of one group or of all. Raises DecodeError."""
    if header.is_control:
        return
    for record, provenance in attributed(iter_records(data, position, header)):
        raw = record.key
        if raw is None or int.from_bytes(raw[:_TYPE_BYTES]) not in _TYPES:
            continue
        found = group_of(raw)
        if found is None or (group_id is not None and found != group_id):
            continue
        decoded = GROUP_SERDE.decode(raw, record.value)
        if decoded is not None:
            yield MemberRecord(found, record.offset, record.timestamp, decoded.key, decoded.value, provenance)
