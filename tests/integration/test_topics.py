"""Topics without messages: made, listed, found; offsets are 0 and fetches wait in peace."""

from __future__ import annotations

import time

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.simple_requests import create_topic, make_topic, topic_of

METADATA_VERSIONS = range(14)
CREATE_TOPICS_VERSIONS = range(2, 8)
FIND_COORDINATOR_VERSIONS = range(7)
LIST_OFFSETS_VERSIONS = range(1, 12)
FETCH_VERSIONS = range(4, 19)
FETCH_BY_ID = 13
MANY_KEYS = 4
NO_AUTO_CREATION = 4
EARLIEST, LATEST = -2, -1


@pytest.mark.parametrize("version", METADATA_VERSIONS)
def test_metadata_makes_a_topic_on_first_use(client: Client, fresh_name: str, version: int) -> None:
    """With auto.create.topics.enable, which is the default, asking for a topic is enough;
    its partitions are led by the only broker.
    """
    eventually(lambda: topic_of(client, fresh_name, version=version).error_code == ErrorCode.NONE)

    answer = client.ask(MetadataRequest(topics=[MetadataRequestTopic(name=fresh_name)]), version, MetadataResponse)
    [topic], [broker] = answer.topics, answer.brokers
    assert (topic.name, topic.is_internal) == (fresh_name, False)
    assert {partition.leader_id for partition in topic.partitions} == {broker.node_id}
    assert broker.port != 0


@pytest.mark.parametrize("version", [version for version in METADATA_VERSIONS if version >= NO_AUTO_CREATION])
def test_metadata_creates_no_topic_without_allow_auto_topic_creation(client: Client, fresh_name: str, version: int) -> None:
    """allow_auto_topic_creation=false only looks."""
    assert topic_of(client, fresh_name, is_created=False, version=version).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("version", CREATE_TOPICS_VERSIONS)
def test_create_topics(client: Client, fresh_name: str, version: int) -> None:
    """A topic gets the partitions asked for; a second creation is refused."""
    first, second = create_topic(client, fresh_name, 6, version), create_topic(client, fresh_name, 6, version)

    assert (first.error_code, second.error_code) == (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
    eventually(lambda: len(topic_of(client, fresh_name, is_created=False).partitions) == 6)


def test_a_topic_is_found_by_its_id(client: Client, fresh_name: str) -> None:
    """The id of CreateTopics is the id of Metadata, and names the topic."""
    topic_id = make_topic(client, fresh_name, 2)

    [topic] = client.ask(
        MetadataRequest(topics=[MetadataRequestTopic(topic_id=topic_id, name=None)]), 12, MetadataResponse
    ).topics

    assert (topic.name, topic.topic_id) == (fresh_name, topic_id)


@pytest.mark.parametrize("version", FIND_COORDINATOR_VERSIONS)
def test_find_coordinator_names_the_address_in_use(
    client: Client, address: tuple[str, int], fresh_name: str, version: int
) -> None:
    """The coordinator of any group is where the client is already."""
    many = version >= MANY_KEYS
    request = FindCoordinatorRequest(coordinator_keys=[fresh_name]) if many else FindCoordinatorRequest(key=fresh_name)

    def found() -> tuple[int, str, int]:
        answer = client.ask(request, version, FindCoordinatorResponse)
        coordinator = answer.coordinators[0] if many else answer
        return coordinator.error_code, coordinator.host, coordinator.port

    eventually(lambda: found() == (ErrorCode.NONE, *address), describe=found)


@pytest.mark.parametrize("version", LIST_OFFSETS_VERSIONS)
def test_list_offsets_of_an_empty_topic(client: Client, fresh_name: str, version: int) -> None:
    """Earliest and latest are both 0."""
    make_topic(client, fresh_name, 2)
    wanted = [
        ListOffsetsPartition(partition_index=0, timestamp=EARLIEST),
        ListOffsetsPartition(partition_index=1, timestamp=LATEST),
    ]
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=fresh_name, partitions=wanted)])

    def listed() -> list[tuple[int, int]]:
        [topic] = client.ask(request, version, ListOffsetsResponse).topics
        return [(partition.error_code, partition.offset) for partition in topic.partitions]

    eventually(lambda: listed() == [(ErrorCode.NONE, 0)] * 2, describe=listed)


def test_list_offsets_answers_a_repeated_partition_once(client: Client, fresh_name: str) -> None:
    """It is invalid, and the others are not; topics that are named twice are one."""
    make_topic(client, fresh_name, 2)
    asked = [
        ListOffsetsTopic(fresh_name, [ListOffsetsPartition(partition, timestamp=LATEST) for partition in (0, 1, 0, 0)]),
        ListOffsetsTopic(fresh_name, [ListOffsetsPartition(0, timestamp=EARLIEST)]),
    ]

    def listed() -> list[list[tuple[int, int]]]:
        answer = client.ask(ListOffsetsRequest(replica_id=-1, topics=asked), 10, ListOffsetsResponse)
        return [[(partition.partition_index, partition.error_code) for partition in topic.partitions] for topic in answer.topics]

    eventually(lambda: listed() == [[(0, ErrorCode.INVALID_REQUEST), (1, ErrorCode.NONE)]], describe=listed)


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_fetch_waits_as_long_as_asked_and_returns_nothing(client: Client, fresh_name: str, version: int) -> None:
    """No message ever comes; the answer comes when max_wait_ms is over, not before."""
    topic_id = make_topic(client, fresh_name, 1)
    topic = FetchTopic(partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)])
    if version >= FETCH_BY_ID:
        topic.topic_id = topic_id
    else:
        topic.topic = fresh_name

    def fetched() -> tuple[int, int, bytes, float]:
        started = time.monotonic()
        answer = client.ask(FetchRequest(max_wait_ms=100, min_bytes=1, topics=[topic]), version, FetchResponse)
        [partition] = answer.responses[0].partitions
        return partition.error_code, partition.high_watermark, partition.records or b"", time.monotonic() - started

    eventually(lambda: fetched()[0] == ErrorCode.NONE, describe=fetched)
    *seen, waited_s = fetched()

    assert seen == [ErrorCode.NONE, 0, b""]
    # Timers count whole milliseconds: the one in which the request came has begun already.
    assert waited_s >= 0.099


def test_a_waiting_fetch_holds_up_nobody_else(client: Client, address: tuple[str, int], fresh_name: str) -> None:
    """Another connection is answered while a fetch waits."""
    topic_id = make_topic(client, fresh_name, 1)
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    # Longer than the other connection waits for its answer.
    request = FetchRequest(max_wait_ms=60_000, min_bytes=1, topics=[FetchTopic(topic_id=topic_id, partitions=[partition])])
    client.send(request, 18)

    with Client(address) as other:
        assert topic_of(other, fresh_name).error_code == ErrorCode.NONE

    assert client.is_waiting()


def test_topics_are_described_page_by_page(client: Client, fresh_name: str) -> None:
    """In the order of their names; each page says where the next one begins, and the last one does not."""
    names = [f"{fresh_name}-{letter}" for letter in "abc"]
    for name in names:
        make_topic(client, name, 3)
    missing = f"{fresh_name}-b-not"
    pages: list[list[tuple[str | None, int, list[int]]]] = []
    cursor: Cursor | None = None
    while True:
        asked = [TopicRequest(name) for name in [*reversed(names), missing]]
        request = DescribeTopicPartitionsRequest(asked, 4, cursor)
        page = client.ask(request, 0, DescribeTopicPartitionsResponse)
        pages.append([(one.name, one.error_code, [each.partition_index for each in one.partitions]) for one in page.topics])
        cursor = page.next_cursor
        if cursor is None:
            break

    a, b, c = names
    unknown: tuple[str, int, list[int]] = (missing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])
    assert pages == [[(a, 0, [0, 1, 2]), (b, 0, [0])], [(b, 0, [1, 2]), unknown, (c, 0, [0, 1])], [(c, 0, [2])]]


def test_a_page_that_begins_nowhere_is_refused(client: Client, fresh_name: str) -> None:
    """At a topic that was not asked for, or before its first partition."""
    make_topic(client, fresh_name, 1)
    for cursor in (Cursor(f"{fresh_name}-x", 0), Cursor(fresh_name, -1)):
        request = DescribeTopicPartitionsRequest([TopicRequest(fresh_name)], 10, cursor)
        [refused] = client.ask(request, 0, DescribeTopicPartitionsResponse).topics
        assert (refused.name, refused.error_code) == (fresh_name, ErrorCode.INVALID_REQUEST)


def test_without_topics_all_of_them_are_described(client: Client, fresh_name: str) -> None:
    """Page by page: other tests of this server have made more partitions than one page holds."""
    make_topic(client, fresh_name, 1)
    internal: dict[str | None, bool] = {}
    cursor: Cursor | None = None
    while True:
        page = client.ask(DescribeTopicPartitionsRequest([], 2000, cursor), 0, DescribeTopicPartitionsResponse)
        internal |= {one.name: one.is_internal for one in page.topics}
        cursor = page.next_cursor
        if cursor is None:
            break

    assert internal["__consumer_offsets"] is True
    assert internal[fresh_name] is False
