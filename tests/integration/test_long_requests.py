"""Requests about very many things get whole answers, and others are answered meanwhile."""

from __future__ import annotations

import pytest

from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
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
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from tests.support.client import Client
from tests.support.simple_requests import make_topic, must_commit

INTERNAL = "__consumer_offsets"


@pytest.mark.parametrize("count", [3, 5_000])
def test_metadata_answers_a_repeated_name_once(client: Client, count: int) -> None:
    """As Kafka does, which makes a set of the names."""
    asked = [MetadataRequestTopic(name=name) for _ in range(count) for name in (INTERNAL, "nowhere-at-all")]
    answer = client.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=False), 9, MetadataResponse)

    assert [topic.name for topic in answer.topics] == [INTERNAL, "nowhere-at-all"]
    assert len(answer.topics[0].partitions) == 50


def test_metadata_has_all_partitions_of_a_large_topic(client: Client, fresh_name: str) -> None:
    """Each once, in order, by name and by id."""
    topic_id = make_topic(client, fresh_name, 2_500)
    for asked in (MetadataRequestTopic(name=fresh_name), MetadataRequestTopic(topic_id=topic_id, name=None)):
        [topic] = client.ask(MetadataRequest(topics=[asked]), 12, MetadataResponse).topics
        assert [each.partition_index for each in topic.partitions] == list(range(2_500))


def test_metadata_ignores_names_beside_ids(client: Client) -> None:
    """As Kafka does; an id that is named twice is answered once."""
    known = client.ask(MetadataRequest(topics=[MetadataRequestTopic(name=INTERNAL)]), 12, MetadataResponse).topics[0].topic_id
    asked = [
        MetadataRequestTopic(name="nowhere-at-all"),
        *[MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in (bytes(15) + b"x", known, known)],
    ]
    answer = client.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=True), 12, MetadataResponse)

    found = [(topic.error_code, topic.topic_id) for topic in answer.topics]
    assert sorted(found) == sorted([(ErrorCode.UNKNOWN_TOPIC_ID, bytes(15) + b"x"), (ErrorCode.NONE, known)])


def test_many_groups_are_described(client: Client) -> None:
    """Kafka answers each name as often as it is asked for."""
    groups = [f"nobody-{each % 3_000}" for each in range(6_000)]
    answer = client.ask(DescribeGroupsRequest(groups), 6, DescribeGroupsResponse)

    assert [group.group_id for group in answer.groups] == groups
    assert {group.error_code for group in answer.groups} == {ErrorCode.GROUP_ID_NOT_FOUND}


def test_many_coordinators_are_found(client: Client) -> None:
    keys = [f"nobody-{each}" for each in range(5_000)]
    answer = client.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=keys), 4, FindCoordinatorResponse)

    assert [(found.key, found.error_code) for found in answer.coordinators] == [(key, 0) for key in keys]


def test_many_resources_are_described(client: Client) -> None:
    asked = [DescribeConfigsResource(32, f"nobody-{each}", None) for each in range(300)]
    answer = client.ask(DescribeConfigsRequest(asked), 4, DescribeConfigsResponse)

    assert [result.resource_name for result in answer.results] == [each.resource_name for each in asked]
    assert all(result.configs for result in answer.results)


def test_a_page_of_many_topics(client: Client) -> None:
    """Topics that do not exist take no room on it."""
    names = sorted(f"NOWHERE-{each}" for each in range(3_000))
    request = DescribeTopicPartitionsRequest([TopicRequest(name) for name in [*names, INTERNAL]], response_partition_limit=20)
    answer = client.ask(request, 0, DescribeTopicPartitionsResponse)

    assert [topic.name for topic in answer.topics] == [*names, INTERNAL]
    assert len(answer.topics[-1].partitions) == 20
    assert answer.next_cursor is not None
    assert (answer.next_cursor.topic_name, answer.next_cursor.partition_index) == (INTERNAL, 20)


def test_very_many_filters(client: Client) -> None:
    """Unknown states match nothing, as in Kafka."""
    states = [f"state-{each}" for each in range(50_000)]

    assert client.ask(ListGroupsRequest(states), 4, ListGroupsResponse).groups == []


def test_requests_behind_a_long_one_are_answered_in_order(client: Client) -> None:
    """Those of the same connection wait for it."""
    client.send(DescribeGroupsRequest([f"nobody-{each}" for each in range(5_000)]), 6)
    client.send(ApiVersionsRequest("test", "1"), 3)

    described, served = client.receive(), client.receive()
    assert isinstance(described, DescribeGroupsResponse)
    assert len(described.groups) == 5_000
    assert isinstance(served, ApiVersionsResponse)


@pytest.fixture
def large_group(client: Client, fresh_name: str) -> str:
    """A group with 6,000 offsets, which the name of their topic is also the name of."""
    make_topic(client, fresh_name, 6_000)
    for start in (0, 2_000, 4_000):
        must_commit(client, fresh_name, fresh_name, {index: index + 7 for index in range(start, start + 2_000)})
    return fresh_name


@pytest.mark.parametrize("is_stable", [False, True])
@pytest.mark.parametrize("version", [2, 5, 7, 8, 10])
def test_all_offsets_of_a_large_group(client: Client, large_group: str, version: int, is_stable: bool) -> None:
    """The same in all versions, also beside a group that does not exist."""
    groups = [OffsetFetchRequestGroup(large_group, topics=None), OffsetFetchRequestGroup("nobody", topics=None)]
    if version < 8:
        request = OffsetFetchRequest(large_group, topics=None, require_stable=is_stable and version >= 7)
    else:
        request = OffsetFetchRequest(groups=groups, require_stable=is_stable)
    answer = client.ask(request, version, OffsetFetchResponse)

    if version < 8:
        found = [(one.partition_index, one.committed_offset) for topic in answer.topics for one in topic.partitions]
        assert (len(answer.topics), answer.error_code) == (1, ErrorCode.NONE)
    else:
        [whole, nothing] = answer.groups
        found = [(one.partition_index, one.committed_offset) for topic in whole.topics for one in topic.partitions]
        assert (nothing.error_code, nothing.topics) == (ErrorCode.NONE, [])
    assert sorted(found) == [(index, index + 7) for index in range(6_000)]


@pytest.mark.parametrize("is_stable", [False, True])
def test_a_few_offsets_of_a_large_group(client: Client, large_group: str, is_stable: bool) -> None:
    """The first read after large commits has to convert all of them."""
    asked = [OffsetFetchRequestTopics(large_group, partition_indexes=[5_999, 6_000, 3])]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(large_group, topics=asked)], require_stable=is_stable)
    answer = client.ask(request, 9, OffsetFetchResponse)

    [topic] = answer.groups[0].topics
    found = [(one.partition_index, one.committed_offset) for one in topic.partitions]
    assert found == [(5_999, 6_006), (6_000, -1), (3, 10)]


@pytest.mark.parametrize("is_stable", [False, True])
def test_very_many_offsets_are_requested(client: Client, large_group: str, is_stable: bool) -> None:
    """In the order of the request, behind a commit that is not answered yet."""
    indexes = list(range(0, 6_000, 2)) * 4
    asked = [OffsetFetchRequestTopics(large_group, partition_indexes=indexes)]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(large_group, topics=asked)], require_stable=is_stable)
    committed = OffsetCommitRequestTopic(large_group, partitions=[OffsetCommitRequestPartition(4, 99)])
    client.send(OffsetCommitRequest(large_group, topics=[committed]), 8)
    client.send(request, 9)
    client.receive()
    answer = client.receive()

    assert isinstance(answer, OffsetFetchResponse)
    [topic] = answer.groups[0].topics
    assert [one.partition_index for one in topic.partitions] == indexes
    assert [one.committed_offset for one in topic.partitions] == [99 if index == 4 else index + 7 for index in indexes]


NOWHERE = [f"nowhere-{number}" for number in range(4_000)]


def test_unknown_topics_are_deleted_beside_known_ones(client: Client, fresh_name: str) -> None:
    """Each is answered as it would be alone."""
    make_topic(client, fresh_name, 1)
    unknown_id = bytes(15) + b"x"
    asked = [DeleteTopicState(name) for name in [*NOWHERE, INTERNAL, fresh_name, "twice", "twice"]]
    asked += [DeleteTopicState(None, unknown_id), DeleteTopicState(None), DeleteTopicState("both", unknown_id)]
    answer = client.ask(DeleteTopicsRequest(topics=asked), 6, DeleteTopicsResponse)

    found = {(each.name, each.topic_id if each.name is None else None): each.error_code for each in answer.responses}
    expected: dict[tuple[str | None, bytes | None], int] = {
        **{(name, None): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for name in NOWHERE},
        (INTERNAL, None): ErrorCode.INVALID_TOPIC_EXCEPTION,
        (fresh_name, None): ErrorCode.NONE,
        ("twice", None): ErrorCode.INVALID_REQUEST,
        (None, unknown_id): ErrorCode.UNKNOWN_TOPIC_ID,
        (None, ZERO_UUID): ErrorCode.INVALID_REQUEST,
        ("both", None): ErrorCode.INVALID_REQUEST,
    }
    assert found == expected


def test_offsets_of_unknown_topics_are_committed_and_deleted_beside_known_ones(client: Client, fresh_name: str) -> None:
    """The known ones are."""
    make_topic(client, fresh_name, 1)
    names = [*NOWHERE, fresh_name]
    partitions = [OffsetCommitRequestPartition(0, 7)]
    commit = OffsetCommitRequest(fresh_name, topics=[OffsetCommitRequestTopic(name, partitions=partitions) for name in names])
    committed = client.ask(commit, 7, OffsetCommitResponse)
    fetch = OffsetFetchRequest(fresh_name, [OffsetFetchRequestTopic(fresh_name, [0])])
    before = client.ask(fetch, 7, OffsetFetchResponse)
    delete = OffsetDeleteRequest(
        fresh_name, [OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(0)]) for name in names]
    )
    deleted = client.ask(delete, 0, OffsetDeleteResponse)
    after = client.ask(fetch, 7, OffsetFetchResponse)

    errors: dict[str, int] = dict.fromkeys(NOWHERE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    errors[fresh_name] = ErrorCode.NONE
    assert {topic.name: topic.partitions[0].error_code for topic in committed.topics} == errors
    assert {topic.name: topic.partitions[0].error_code for topic in deleted.topics} == errors
    assert [answer.topics[0].partitions[0].committed_offset for answer in (before, after)] == [7, -1]
