"""Tombstones of committed offsets, for requests of administrators, for expiry, and for deleted groups and topics."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Final

from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.pending import PendingOffsets
from coordinator_server.offsets.store import OffsetStore, TopicPartition
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import OffsetCommitKey
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

LEAST_TOMBSTONE_BYTES: Final = 40
"""A lower bound of the bytes that the runtime allows for a tombstone in a batch, without the names of group and topic."""


def tombstone(group_id: str, topic: str, partition: int) -> CoordinatorRecord:
    """Return the tombstone of one committed offset."""
    return CoordinatorRecord(OffsetCommitKey(group_id, topic, partition), None)


def positions_of(store: OffsetStore, pending: PendingOffsets, group_id: str) -> list[TopicPartition]:
    """Return the positions of all offsets of a group, including those of open transactions."""
    return list(dict.fromkeys(chain(store.of_group_at(group_id, LATEST) or (), pending.open_now(group_id))))


def delete_offsets(
    store: OffsetStore, pending: PendingOffsets, request: OffsetDeleteRequest, is_subscribed: Callable[[str], bool]
) -> tuple[OffsetDeleteResponse, list[TopicPartition]]:
    """Return the answer and the positions to delete of those requested. Topics to which the group is subscribed are refused.

    An offset that does not exist is no error.
    """
    committed, opened = store.of_group_at(request.group_id, LATEST) or (), pending.open_now(request.group_id)
    topics, doomed = [], []
    for topic in request.topics:
        error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_subscribed(topic.name) else ErrorCode.NONE
        asked = [partition.partition_index for partition in topic.partitions]
        topics.append(OffsetDeleteResponseTopic(topic.name, [OffsetDeleteResponsePartition(index, error) for index in asked]))
        if error == ErrorCode.NONE:
            for index in dict.fromkeys(asked):
                position = (topic.name, index)
                if position in committed or position in opened:
                    doomed.append(position)
    return OffsetDeleteResponse(topics=topics), list(dict.fromkeys(doomed))
