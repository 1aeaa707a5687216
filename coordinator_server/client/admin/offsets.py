"""Committed offsets of groups, and the offsets that topics have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from coordinator_server.client.admin.cluster import Cluster, check
from coordinator_server.client.admin.topics import describe_topics
from coordinator_server.client.errors import known_code
from coordinator_server.client.offsets import Committed, TopicPartition
from protocol.error_codes import ErrorCode
from protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)

EARLIEST: Final = -2
LATEST: Final = -1
_BATCHED: Final = 8
"""From this version on OffsetFetch asks for many groups at once."""
_NO_OFFSET: Final = -1
_CLIENT: Final = -1
"""The replica id of clients."""


async def committed_offsets(cluster: Cluster, group_ids: Iterable[str]) -> dict[str, dict[TopicPartition, Committed]]:
    """Return the committed offsets of groups, by partition; none of a group that does not exist. Raises ClientError."""
    if await cluster.version_of(OffsetFetchRequest) < _BATCHED:
        return {group_id: await _offsets_of_one(cluster, group_id) for group_id in dict.fromkeys(group_ids)}
    answers = await cluster.ask_coordinators(
        group_ids,
        lambda some: OffsetFetchRequest(groups=[OffsetFetchRequestGroup(each, topics=None) for each in some]),
        OffsetFetchResponse,
        lambda answer: [each.error_code for each in answer.groups],
    )
    return {group.group_id: _offsets_in(group.group_id, group) for _, answer in answers for group in answer.groups}


async def _offsets_of_one(cluster: Cluster, group_id: str) -> dict[TopicPartition, Committed]:
    """Return the committed offsets of a group, of a server that is asked for one at a time."""
    request = OffsetFetchRequest(group_id, topics=None)
    answer = await cluster.ask_coordinator(group_id, request, OffsetFetchResponse, lambda answer: [answer.error_code])
    return _offsets_in(group_id, answer)


def _offsets_in(group_id: str, answer: OffsetFetchResponseGroup | OffsetFetchResponse) -> dict[TopicPartition, Committed]:
    if answer.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
        check(f"OffsetFetch of group {group_id}", answer.error_code)
    offsets = {}
    for topic in answer.topics:
        for each in topic.partitions:
            check(f"OffsetFetch of {topic.name}-{each.partition_index}", each.error_code)
            if each.committed_offset > _NO_OFFSET:
                partition = TopicPartition(topic.name, each.partition_index)
                offsets[partition] = Committed(each.committed_offset, each.metadata or "", each.committed_leader_epoch)
    return dict(sorted(offsets.items()))


async def topic_offsets(cluster: Cluster, partitions: Iterable[TopicPartition], timestamp: int) -> dict[TopicPartition, int]:
    """Return the offset of a time in each partition: ms since 1970, EARLIEST or LATEST. Raises ClientError.

    Partitions that do not exist, or have no leader, are left out. -1 is the answer of a partition without a message so late.
    """
    wanted = sorted(set(partitions))
    topics = await describe_topics(cluster, {each.topic for each in wanted})
    by_leader: dict[int, dict[str, list[ListOffsetsPartition]]] = {}
    for each in wanted:
        leader = topics[each.topic].leaders.get(each.partition, -1) if each.topic in topics else -1
        if leader >= 0:
            of_topic = by_leader.setdefault(leader, {}).setdefault(each.topic, [])
            of_topic.append(ListOffsetsPartition(each.partition, timestamp=timestamp))
    found: dict[TopicPartition, int] = {}
    for leader, by_topic in by_leader.items():
        request = ListOffsetsRequest(_CLIENT, topics=[ListOffsetsTopic(*each) for each in by_topic.items()])
        answer = await cluster.ask_server(leader, request, ListOffsetsResponse)
        for topic in answer.topics:
            for partition in topic.partitions:
                check(f"ListOffsets of {topic.name}-{partition.partition_index}", partition.error_code)
                found[TopicPartition(topic.name, partition.partition_index)] = partition.offset
    return found


async def commit_offsets(
    cluster: Cluster, group_id: str, offsets: Mapping[TopicPartition, Committed]
) -> dict[TopicPartition, ErrorCode]:
    """Set offsets of a group without members, or of none. Return the code of each partition. Raises ClientError."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (topic, number), each in offsets.items():
        partition = OffsetCommitRequestPartition(number, each.offset, each.leader_epoch, each.metadata)
        topics.setdefault(topic, []).append(partition)
    request = OffsetCommitRequest(
        group_id, topics=[OffsetCommitRequestTopic(name, partitions=some) for name, some in topics.items()]
    )
    answer = await cluster.ask_coordinator(
        group_id,
        request,
        OffsetCommitResponse,
        lambda answer: (each.error_code for topic in answer.topics for each in topic.partitions),
    )
    return {
        TopicPartition(topic.name, each.partition_index): known_code(each.error_code)
        for topic in answer.topics
        for each in topic.partitions
    }


async def delete_offsets(
    cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    """Delete offsets of a group. Return the code of each partition. Raises ClientError if the group is refused as a whole."""
    topics: dict[str, list[OffsetDeleteRequestPartition]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(OffsetDeleteRequestPartition(number))
    request = OffsetDeleteRequest(group_id, [OffsetDeleteRequestTopic(*each) for each in topics.items()])
    answer = await cluster.ask_coordinator(group_id, request, OffsetDeleteResponse, lambda answer: [answer.error_code])
    check(f"deletion of offsets of group {group_id}", answer.error_code)
    return {
        TopicPartition(topic.name, each.partition_index): known_code(each.error_code)
        for topic in answer.topics
        for each in topic.partitions
    }
