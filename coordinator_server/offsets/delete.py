"""Tombstones of committed offsets, for requests of administrators, for expiry, and for deleted groups and topics."""

from __future__ import annotations

from collections.abc import Callable

from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.pending import PendingOffsets
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import OffsetCommitKey
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def tombstone(group_id: str, topic: str, partition: int) -> CoordinatorRecord:
    """Return the tombstone of one committed offset."""
    return CoordinatorRecord(OffsetCommitKey(group_id, topic, partition), None)


def delete_all(store: OffsetStore, pending: PendingOffsets, group_id: str) -> list[CoordinatorRecord]:
    """Return the tombstones of all offsets of a group, including those of open transactions."""
    positions = dict.fromkeys([*(store.of_group_at(group_id, LATEST) or ()), *pending.open_at(group_id, LATEST)])
    return [tombstone(group_id, topic, partition) for topic, partition in positions]


def delete_offsets(
    store: OffsetStore, pending: PendingOffsets, request: OffsetDeleteRequest, is_subscribed: Callable[[str], bool]
) -> tuple[OffsetDeleteResponse, list[CoordinatorRecord]]:
    """Return the answer and the tombstones for the requested partitions. Topics to which the group is subscribed are refused.

    An offset that does not exist is no error.
    """
    known = {*(store.of_group_at(request.group_id, LATEST) or ()), *pending.open_at(request.group_id, LATEST)}
    topics, records = [], []
    for topic in request.topics:
        error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_subscribed(topic.name) else ErrorCode.NONE
        asked = [partition.partition_index for partition in topic.partitions]
        topics.append(OffsetDeleteResponseTopic(topic.name, [OffsetDeleteResponsePartition(index, error) for index in asked]))
        if error == ErrorCode.NONE:
            there = [index for index in dict.fromkeys(asked) if (topic.name, index) in known]
            records += [tombstone(request.group_id, topic.name, index) for index in there]
    return OffsetDeleteResponse(topics=topics), records
