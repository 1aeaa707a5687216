"""OffsetFetch: the committed offsets of one group, as of a committed log offset.

An unknown group or partition is no error: its offset is -1. A topic id that differs from the one an offset was committed under
means another topic of the same name, and so no offset either.
"""

from __future__ import annotations

from coordinator_server.offsets.store import GroupOffsets, OffsetAndMetadata, OffsetStore, TopicPartition
from protocol.fields import ZERO_UUID
from protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

INVALID_OFFSET = -1


def fetch_offsets(store: OffsetStore, committed_offset: int, request: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
    """The partitions that are asked for, in that order; all that the group has when ``topics`` is None."""
    offsets = store.of_group_at(request.group_id, committed_offset)
    if request.topics is None:
        return OffsetFetchResponseGroup(request.group_id, _all_topics(offsets, committed_offset))
    topics = []
    for topic in request.topics:
        partitions = [
            _answer(index, _read(offsets, (topic.name, index), committed_offset), topic.topic_id)
            for index in topic.partition_indexes
        ]
        topics.append(OffsetFetchResponseTopics(topic.name, topic.topic_id, partitions))
    return OffsetFetchResponseGroup(request.group_id, topics)


def _read(offsets: GroupOffsets | None, position: TopicPartition, committed_offset: int) -> OffsetAndMetadata | None:
    return None if offsets is None else offsets.get_at(position, committed_offset)


def _answer(index: int, found: OffsetAndMetadata | None, asked_id: bytes) -> OffsetFetchResponsePartitions:
    if found is None or (found.topic_id != asked_id and ZERO_UUID not in (found.topic_id, asked_id)):
        return OffsetFetchResponsePartitions(index, INVALID_OFFSET)
    return OffsetFetchResponsePartitions(index, found.committed_offset, found.leader_epoch, found.metadata)


def _all_topics(offsets: GroupOffsets | None, committed_offset: int) -> list[OffsetFetchResponseTopics]:
    topics: dict[str, OffsetFetchResponseTopics] = {}
    if offsets is not None:
        for (name, index), found in offsets.items_at(committed_offset):
            topic = topics.get(name)
            if topic is None:
                topic = topics[name] = OffsetFetchResponseTopics(name, partitions=[])
            topic.partitions.append(_answer(index, found, ZERO_UUID))
    return list(topics.values())
