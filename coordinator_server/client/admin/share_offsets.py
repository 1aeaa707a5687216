"""Where the share partitions of share groups start (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from coordinator_server.client.admin.cluster import Cluster, check, error_of
from coordinator_server.client.errors import ClientError
from coordinator_server.client.offsets import TopicPartition
from protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsResponse,
)
from protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
)


class ShareStart(NamedTuple):
    """Where a share partition starts. ``lag`` is None if the server does not say."""

    offset: int | None
    lag: int | None
    leader_epoch: int


async def share_offsets(cluster: Cluster, group_id: str) -> dict[TopicPartition, ShareStart]:
    """Return the start of each share partition of a group. Raises ClientError."""
    answer = await cluster.ask_coordinator(
        group_id,
        DescribeShareGroupOffsetsRequest([DescribeShareGroupOffsetsRequestGroup(group_id, None)]),
        DescribeShareGroupOffsetsResponse,
        lambda answer: [each.error_code for each in answer.groups],
    )
    found = {}
    for group in answer.groups:
        check(f"share offsets of group {group_id}", group.error_code, group.error_message)
        for topic in group.topics:
            for each in topic.partitions:
                check(f"share offsets of {topic.topic_name}-{each.partition_index}", each.error_code, each.error_message)
                found[TopicPartition(topic.topic_name, each.partition_index)] = ShareStart(
                    each.start_offset if each.start_offset >= 0 else None, each.lag if each.lag >= 0 else None, each.leader_epoch
                )
    return dict(sorted(found.items()))


async def set_share_offsets(
    cluster: Cluster, group_id: str, offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, ClientError | None]:
    """Let share partitions of a group without members start elsewhere. Return why each was refused. Raises ClientError."""
    topics: dict[str, list[AlterShareGroupOffsetsRequestPartition]] = {}
    for (topic, number), offset in offsets.items():
        topics.setdefault(topic, []).append(AlterShareGroupOffsetsRequestPartition(number, offset))
    request = AlterShareGroupOffsetsRequest(group_id, [AlterShareGroupOffsetsRequestTopic(*each) for each in topics.items()])
    answer = await cluster.ask_coordinator(group_id, request, AlterShareGroupOffsetsResponse, lambda answer: [answer.error_code])
    check(f"change of share offsets of group {group_id}", answer.error_code, answer.error_message)
    return {
        TopicPartition(topic.topic_name, each.partition_index): error_of(
            f"change of {topic.topic_name}-{each.partition_index}", each.error_code, each.error_message
        )
        for topic in answer.responses
        for each in topic.partitions
    }


async def delete_share_offsets(cluster: Cluster, group_id: str, topics: Iterable[str]) -> dict[str, ClientError | None]:
    """Delete the state that a group without members has of topics. Return why each was refused. Raises ClientError."""
    request = DeleteShareGroupOffsetsRequest(group_id, [DeleteShareGroupOffsetsRequestTopic(each) for each in topics])
    answer = await cluster.ask_coordinator(group_id, request, DeleteShareGroupOffsetsResponse, lambda answer: [answer.error_code])
    check(f"deletion of share offsets of group {group_id}", answer.error_code, answer.error_message)
    return {
        each.topic_name: error_of(f"deletion of {each.topic_name}", each.error_code, each.error_message)
        for each in answer.responses
    }
