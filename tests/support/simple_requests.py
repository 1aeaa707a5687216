"""The few requests that many tests make, at a version where they are simplest."""

from __future__ import annotations

from collections.abc import Mapping

from protocol.error_codes import ErrorCode
from protocol.messages.create_topics import CreatableTopic, CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseTopic
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse
from tests.support.client import Client
from tests.support.eventually import eventually

OF_GROUPS, OF_TRANSACTIONS = 0, 1
"""FindCoordinator's key types."""


def create_topic(client: Client, name: str, partitions: int, version: int = 7) -> CreatableTopicResult:
    request = CreateTopicsRequest(topics=[CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)])
    [result] = client.ask(request, version, CreateTopicsResponse).topics
    return result


def make_topic(client: Client, name: str, partitions: int) -> bytes:
    """Create a topic, wait until the server knows it; its id. A Kafka broker learns of it a moment after it has said yes."""
    created = create_topic(client, name, partitions)
    assert created.error_code == ErrorCode.NONE, ErrorCode(created.error_code)
    eventually(lambda: len(topic_of(client, name, is_created=False).partitions) == partitions)
    return created.topic_id


def topic_of(client: Client, name: str, *, is_created: bool = True, version: int = 12) -> MetadataResponseTopic:
    """What Metadata says of one topic; makes it unless told otherwise."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
    if version >= 4:
        request.allow_auto_topic_creation = is_created
    [topic] = client.ask(request, version, MetadataResponse).topics
    return topic


def coordinator(client: Client, key: str, key_type: int = OF_GROUPS) -> tuple[str, int]:
    """Where a group or a transactional id lives, asked until there is such a place:
    a Kafka broker makes its topic when it is first asked.
    """
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    answers = []

    def is_there() -> bool:
        answers.append(client.ask(request, 4, FindCoordinatorResponse).coordinators[0])
        return answers[-1].error_code == ErrorCode.NONE

    eventually(is_there)
    return answers[-1].host, answers[-1].port


def describe_group(client: Client, group_id: str, version: int = 6) -> DescribedGroup:
    [group] = client.ask(DescribeGroupsRequest(groups=[group_id]), version, DescribeGroupsResponse).groups
    return group


def commit_alone(client: Client, group_id: str, topic: str, offsets: Mapping[int, int], version: int = 9) -> dict[int, ErrorCode]:
    """A commit without membership: generation -1, as simple consumers do."""
    partitions = [OffsetCommitRequestPartition(partition_index=one, committed_offset=offset) for one, offset in offsets.items()]
    request = OffsetCommitRequest(group_id=group_id, topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)])
    answer = client.ask(request, version, OffsetCommitResponse)
    return {one.partition_index: ErrorCode(one.error_code) for topic in answer.topics for one in topic.partitions}


def must_commit(client: Client, group_id: str, topic: str, offsets: Mapping[int, int]) -> None:
    """The same, for what a test prepares: every partition must be accepted."""
    errors = commit_alone(client, group_id, topic, offsets)
    assert errors == dict.fromkeys(offsets, ErrorCode.NONE), errors


def committed(client: Client, group_id: str) -> dict[tuple[str, int], int]:
    """Every position of a group."""
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)])
    [group] = client.ask(request, 9, OffsetFetchResponse).groups
    assert group.error_code == ErrorCode.NONE, ErrorCode(group.error_code)
    return {(topic.name, one.partition_index): one.committed_offset for topic in group.topics for one in topic.partitions}
