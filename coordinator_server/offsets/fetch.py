"""OffsetFetch: the committed offsets of one group, as of a committed log offset.

An unknown group or partition is no error: its offset is -1. If the requested topic id differs from that of the commit, the offset
belongs to a different topic of the same name, so the answer is -1 too. With ``require_stable``, an offset with a pending change
in an open transaction gets UNSTABLE_OFFSET_COMMIT, which clients retry (KIP-447).
"""

from __future__ import annotations

from collections.abc import Collection

from coordinator_server.offsets.group_offsets import GroupOffsets, Readable
from coordinator_server.offsets.store import OffsetAndMetadata, OffsetStore, TopicPartition
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

INVALID_OFFSET = -1


def fetch_offsets(
    store: OffsetStore, committed_offset: int, request: OffsetFetchRequestGroup, unstable: Collection[TopicPartition] = ()
) -> OffsetFetchResponseGroup:
    """Return the requested partitions in order, or all of the group if ``topics`` is None. Refuse those in ``unstable``."""
    offsets = store.of_group_at(request.group_id, committed_offset)
    if request.topics is None:
        return OffsetFetchResponseGroup(request.group_id, _all_topics(offsets, committed_offset, unstable))
    topics = []
    found = None if offsets is None else offsets.as_of(committed_offset)
    for topic in request.topics:
        if found is not None and not unstable:
            topics.append(OffsetFetchResponseTopics(topic.name, topic.topic_id, _stable(found, topic)))
            continue
        partitions = [
            answer_partition(index, None if found is None else found.get((topic.name, index)), topic.topic_id)
            if not unstable or (topic.name, index) not in unstable
            else unstable_partition(index)
            for index in topic.partition_indexes
        ]
        topics.append(OffsetFetchResponseTopics(topic.name, topic.topic_id, partitions))
    return OffsetFetchResponseGroup(request.group_id, topics)


def _stable(offsets: Readable, topic: OffsetFetchRequestTopics) -> list[OffsetFetchResponsePartitions]:
    """Return the answers of one topic. ``answer_partition``, inlined for requests with thousands of partitions."""
    name, asked_id = topic.name, topic.topic_id
    is_by_name = asked_id == ZERO_UUID
    answers: list[OffsetFetchResponsePartitions] = []
    for index in topic.partition_indexes:
        found = offsets.get((name, index))
        if found is None or not (is_by_name or found.topic_id in (asked_id, ZERO_UUID)):
            answers.append(OffsetFetchResponsePartitions(index, INVALID_OFFSET))
        else:
            answers.append(OffsetFetchResponsePartitions(index, found.committed_offset, found.leader_epoch, found.metadata))
    return answers


def answer_partition(index: int, found: OffsetAndMetadata | None, asked_id: bytes) -> OffsetFetchResponsePartitions:
    if found is None or (found.topic_id != asked_id and ZERO_UUID not in (found.topic_id, asked_id)):
        return OffsetFetchResponsePartitions(index, INVALID_OFFSET)
    return OffsetFetchResponsePartitions(index, found.committed_offset, found.leader_epoch, found.metadata)


def unstable_partition(index: int) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(index, INVALID_OFFSET, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT)


def _all_topics(
    offsets: GroupOffsets | None, committed_offset: int, unstable: Collection[TopicPartition]
) -> list[OffsetFetchResponseTopics]:
    topics: dict[str, OffsetFetchResponseTopics] = {}
    if offsets is not None:
        for (name, index), found in offsets.items_at(committed_offset):
            topic = topics.get(name)
            if topic is None:
                topic = topics[name] = OffsetFetchResponseTopics(name, partitions=[])
            is_stable = not unstable or (name, index) not in unstable
            topic.partitions.append(answer_partition(index, found, ZERO_UUID) if is_stable else unstable_partition(index))
    return list(topics.values())
