"""ListOffsets and Fetch before they read anything: which partitions there are, where they begin and end, and who waits."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import TimedOffset
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.server.apis.records import FETCH_API, LIST_OFFSETS_API
from coordinator_server.server.cluster.view import Endpoint, Owner
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.hosting.fetching import Job, Search
from protocol.error_codes import ErrorCode
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, LeaderIdAndEpoch, PartitionData
from protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from tests.support.api_peer import ApiPeer
from tests.support.configs import config_with
from tests.support.views import loops_nodes

COUNT = 3
ORDERS = Topic("orders", b"o" * 16, COUNT)
OFFSETS = Topic("__consumer_offsets", b"c" * 16, COUNT)
# A kind that is not served has no runtime.
STATES = Topic("__share_group_state", b"s" * 16, COUNT)
LATEST, EARLIEST, MAX, EARLIEST_LOCAL, TIERED, PENDING_UPLOAD = range(-1, -7, -1)
# The first version that knows each of them (Kafka's ListOffsetsRequest.json).
KNOWN_FROM = {LATEST: 1, EARLIEST: 1, MAX: 7, EARLIEST_LOCAL: 8, TIERED: 9, PENDING_UPLOAD: 11}
END, STABLE = 100, 40
OWNED, OF_ANOTHER = 0, 1
BEYOND = [COUNT, 2**31 - 1, -1, -(2**31)]
READ_COMMITTED = 1
OK, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class Site:
    """A node with a topic of clients and two internal ones, of which it owns partition 0. Their logs end at 100."""

    def __init__(self) -> None:
        self.config = config_with(fetch_max_bytes=5000)
        self.topics = (ORDERS, OFFSETS, STATES)
        self.internal = (OFFSETS.name, STATES.name)
        self.runtimes = {OFFSETS.name: self}
        self.nodes = loops_nodes(COUNT, OWNED, first_id=7)
        self.fetches = self.image = self
        self.served: list[Any] = []
        self.delays: list[tuple[int, Any, Any]] = []
        self.is_loading = False

    def topic(self, name: str) -> Topic | None:
        return next((topic for topic in self.topics if topic.name == name), None)

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        return next((topic for topic in self.topics if topic.topic_id == topic_id), None)

    def endpoint(self, reply: Any, node_id: int) -> Endpoint:
        return self.nodes.endpoint(node_id, ("host", 0))

    def end_offset(self, shard: ShardId) -> int:
        return END

    def last_stable_offset(self, partition: int) -> int:
        """Of the runtime."""
        if self.is_loading:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return STABLE

    def serve(self, job: Job | Search) -> None:
        self.served.append(job)

    def answer_after(self, delay_ms: int, reply: Exchange[Any], response: Any) -> None:
        self.delays.append((delay_ms, reply, response))


@pytest.fixture
def site() -> Site:
    return Site()


def listed(
    site: Site,
    version: int,
    *asked: tuple[Topic, int, int],
    isolation_level: int = 0,
    leader_epoch: int = -1,
) -> list[ListOffsetsPartitionResponse]:
    """What ListOffsets says of topics, partitions and timestamps."""
    topics = [
        ListOffsetsTopic(topic.name, [ListOffsetsPartition(index, leader_epoch, timestamp)]) for topic, index, timestamp in asked
    ]
    answer = ApiPeer(LIST_OFFSETS_API, site).ask(ListOffsetsRequest(-1, isolation_level, topics), version)
    assert isinstance(answer, ListOffsetsResponse)
    return [partition for topic in answer.topics for partition in topic.partitions]


@pytest.mark.parametrize("version", range(1, 12))
def test_a_timestamp_is_known_from_a_version_on(site: Site, version: int) -> None:
    """A topic of clients begins and ends at 0, and has no record with a timestamp."""
    for timestamp in (*KNOWN_FROM, -7, -100, 0, 2**40):
        [found] = listed(site, version, (ORDERS, 0, timestamp))

        is_known = timestamp >= 0 or KNOWN_FROM.get(timestamp, 99) <= version
        has_offset = is_known and timestamp in (LATEST, EARLIEST, EARLIEST_LOCAL)
        assert found.error_code == (OK if is_known else ErrorCode.UNSUPPORTED_VERSION)
        assert (found.offset, found.timestamp) == (0 if has_offset else -1, -1)
        assert found.leader_epoch == (0 if has_offset and version >= 4 else -1)


@pytest.mark.parametrize("topic", [ORDERS, OFFSETS])
@pytest.mark.parametrize("index", BEYOND)
def test_a_partition_that_does_not_exist_has_no_offset(site: Site, topic: Topic, index: int) -> None:
    assert [each.error_code for each in listed(site, 7, (topic, index, LATEST))] == [UNKNOWN]
    assert [each.error_code for each in listed(site, 7, (Topic("none", bytes(16), 1), 0, LATEST))] == [UNKNOWN]


def test_every_partition_of_a_topic_has_its_offset(site: Site) -> None:
    found = listed(site, 7, *((ORDERS, index, LATEST) for index in range(COUNT)))

    assert [(each.partition_index, each.error_code, each.offset) for each in found] == [(index, OK, 0) for index in range(COUNT)]


def test_a_partition_is_asked_for_once(site: Site) -> None:
    """Its neighbours have their answers."""
    found = listed(site, 7, (ORDERS, 1, LATEST), (ORDERS, 0, LATEST), (ORDERS, 1, EARLIEST))

    assert [(each.partition_index, each.error_code) for each in found] == [(1, ErrorCode.INVALID_REQUEST), (0, OK)]


@pytest.mark.parametrize(("isolation_level", "end"), [(0, END), (READ_COMMITTED, STABLE)])
def test_an_internal_topic_ends_where_its_log_does(site: Site, isolation_level: int, end: int) -> None:
    """With READ_COMMITTED, before the first open transaction."""
    found = listed(site, 8, *((OFFSETS, OWNED, LATEST),), isolation_level=isolation_level)
    first = listed(site, 8, *((OFFSETS, OWNED, EARLIEST),), isolation_level=isolation_level)
    local = listed(site, 8, *((OFFSETS, OWNED, EARLIEST_LOCAL),), isolation_level=isolation_level)

    assert [(each.error_code, each.offset, each.leader_epoch) for each in found] == [(OK, end, 0)]
    assert [(each.error_code, each.offset, each.leader_epoch) for each in first + local] == [(OK, 0, 0)] * 2


def test_where_transactions_are_unknown_nothing_is_committed(site: Site) -> None:
    """While a shard loads, and of a kind that is not served."""
    [found] = listed(site, 8, (STATES, OWNED, LATEST), isolation_level=READ_COMMITTED)
    site.is_loading = True
    [loading] = listed(site, 8, (OFFSETS, OWNED, LATEST), isolation_level=READ_COMMITTED)

    assert (found.error_code, found.offset) == (loading.error_code, loading.offset) == (OK, 0)


@pytest.mark.parametrize(
    ("index", "leader_epoch", "error"),
    [
        (OWNED, -1, OK),
        (OWNED, 0, OK),
        (OWNED, 1, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (OWNED, -2, ErrorCode.FENCED_LEADER_EPOCH),
        (OF_ANOTHER, -1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_the_leader_of_an_internal_topic_is_asked_in_its_epoch(site: Site, index: int, leader_epoch: int, error: int) -> None:
    for timestamp in (LATEST, EARLIEST):
        [found] = listed(site, 8, (OFFSETS, index, timestamp), leader_epoch=leader_epoch)
        assert (found.error_code, found.offset >= 0) == (error, error == OK)
    if error:
        [found] = listed(site, 8, (OFFSETS, index, 5), leader_epoch=leader_epoch)
        assert (found.error_code, site.served) == (error, [])


def test_timestamps_are_looked_up_in_the_log(site: Site) -> None:
    """The largest one is asked for as None; what is found is filled in where it was asked for."""
    peer = ApiPeer(LIST_OFFSETS_API, site)
    asked = [ListOffsetsPartition(OWNED, -1, timestamp) for timestamp in (MAX,)]
    topics = [
        ListOffsetsTopic(OFFSETS.name, asked),
        ListOffsetsTopic(STATES.name, [ListOffsetsPartition(OWNED, -1, 0), ListOffsetsPartition(OF_ANOTHER, -1, 0)]),
        ListOffsetsTopic(ORDERS.name, [ListOffsetsPartition(0, -1, LATEST)]),
    ]
    peer.send(ListOffsetsRequest(-1, 0, topics), 8)
    [search] = site.served
    assert peer.is_waiting
    assert search.questions == [(ShardId(OFFSETS.name, OWNED), None), (ShardId(STATES.name, OWNED), 0)]

    search.answer([TimedOffset(3, 1234), ErrorCode.KAFKA_STORAGE_ERROR])

    answer = peer.receive(8)
    assert isinstance(answer, ListOffsetsResponse)
    assert [
        (each.error_code, each.offset, each.timestamp, each.leader_epoch) for topic in answer.topics for each in topic.partitions
    ] == [
        (OK, 3, 1234, 0),
        (ErrorCode.KAFKA_STORAGE_ERROR, -1, -1, -1),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, -1, -1),
        (OK, 0, -1, 0),
    ]


def test_a_timestamp_that_no_record_has_is_found_nowhere(site: Site) -> None:
    peer = ApiPeer(LIST_OFFSETS_API, site)
    peer.send(ListOffsetsRequest(-1, 0, [ListOffsetsTopic(OFFSETS.name, [ListOffsetsPartition(OWNED, -1, 5)])]), 8)
    site.served[0].answer([None])

    answer = peer.receive(8)
    assert isinstance(answer, ListOffsetsResponse)
    assert answer.topics[0].partitions == [ListOffsetsPartitionResponse(OWNED)]


def fetching(version: int, *asked: tuple[Topic, int, int], **fields: Any) -> FetchRequest:
    """A request for topics and partitions from offsets; it may wait for a second."""
    leader_epoch = fields.pop("leader_epoch", -1)
    topics = [
        FetchTopic(
            "" if version >= 13 else topic.name,
            topic.topic_id if version >= 13 else bytes(16),
            [FetchPartition(index, leader_epoch, offset, partition_max_bytes=1000)],
        )
        for topic, index, offset in asked
    ]
    return FetchRequest(**{"max_wait_ms": 1000, "min_bytes": 1, "topics": topics, **fields})


def fetched(answer: Any) -> list[PartitionData]:
    assert isinstance(answer, FetchResponse)
    assert answer.error_code == OK
    return [partition for topic in answer.responses for partition in topic.partitions]


@pytest.mark.parametrize("version", [4, 12, 13, 18])
@pytest.mark.parametrize("topic", [ORDERS, OFFSETS])
@pytest.mark.parametrize("index", BEYOND)
def test_a_partition_that_does_not_exist_is_not_fetched(site: Site, version: int, topic: Topic, index: int) -> None:
    """At once, whatever the others have."""
    answer = ApiPeer(FETCH_API, site).ask(fetching(version, (topic, index, 0), (ORDERS, 0, 0)), version)

    assert [each.error_code for each in fetched(answer)] == [UNKNOWN, OK]
    assert site.served == []


@pytest.mark.parametrize(("version", "error"), [(12, UNKNOWN), (13, ErrorCode.UNKNOWN_TOPIC_ID)])
def test_an_unknown_topic_is_not_fetched(site: Site, version: int, error: ErrorCode) -> None:
    answer = ApiPeer(FETCH_API, site).ask(fetching(version, (Topic("none", b"n" * 16, 1), 0, 0)), version)

    assert [each.error_code for each in fetched(answer)] == [error]


@pytest.mark.parametrize("version", [4, 13])
def test_a_fetch_of_topics_without_records_waits_its_time(site: Site, version: int) -> None:
    """Each partition ends where the client is."""
    peer = ApiPeer(FETCH_API, site)
    peer.send(fetching(version, (ORDERS, 0, 5), (ORDERS, COUNT - 1, -1)), version)
    [(delay_ms, reply, response)] = site.delays
    assert (delay_ms, reply.is_free, peer.is_waiting) == (1000, True, True)

    reply.complete(response)
    ends = [(each.error_code, each.high_watermark, each.records) for each in fetched(peer.receive(version))]
    assert ends == [(OK, 5, b""), (OK, 0, b"")]


@pytest.mark.parametrize("fields", [{"max_wait_ms": 0}, {"max_wait_ms": -1}, {"min_bytes": 0}, {"min_bytes": -1}, {"topics": []}])
def test_a_fetch_that_must_not_wait_is_answered_at_once(site: Site, fields: dict[str, Any]) -> None:
    answer = ApiPeer(FETCH_API, site).ask(fetching(4, (ORDERS, 0, 0), **fields), 4)

    assert len(fetched(answer)) == (0 if "topics" in fields else 1)
    assert site.delays == []


@pytest.mark.parametrize("fields", [{"max_wait_ms": 1}, {"min_bytes": 1}])
def test_a_fetch_that_may_wait_a_little_waits(site: Site, fields: dict[str, Any]) -> None:
    ApiPeer(FETCH_API, site).send(fetching(4, (ORDERS, 0, 0), **fields), 4)

    assert [delay_ms for delay_ms, _, _ in site.delays] == [fields.get("max_wait_ms", 1000)]


@pytest.mark.parametrize(("offset", "is_there"), [(-1, False), (0, True), (END, True), (END + 1, False)])
def test_a_log_is_read_from_its_beginning_to_its_end(site: Site, offset: int, is_there: bool) -> None:
    peer = ApiPeer(FETCH_API, site)
    peer.send(fetching(12, (OFFSETS, OWNED, offset)), 12)
    if not is_there:
        assert [each.error_code for each in fetched(peer.receive(12))] == [ErrorCode.OFFSET_OUT_OF_RANGE]
        return

    [job] = site.served
    [wanted] = job.wanted
    assert (wanted.shard, wanted.fetch_offset, wanted.max_bytes) == (ShardId(OFFSETS.name, OWNED), offset, 1000)
    assert (job.max_wait_ms, job.min_bytes, job.is_urgent) == (1000, 1, False)


@pytest.mark.parametrize(("asked", "most"), [(10, 10), (5000, 5000), (5001, 5000), (2**31 - 1, 5000)])
def test_a_response_is_no_larger_than_the_server_allows(site: Site, asked: int, most: int) -> None:
    """fetch.max.bytes."""
    ApiPeer(FETCH_API, site).send(fetching(12, (OFFSETS, OWNED, 0), max_bytes=asked), 12)

    assert [job.max_bytes for job in site.served] == [most]


@pytest.mark.parametrize(("isolation_level", "end"), [(0, END), (READ_COMMITTED, STABLE)])
def test_a_log_is_read_to_where_the_client_may_read(site: Site, isolation_level: int, end: int) -> None:
    ApiPeer(FETCH_API, site).send(fetching(12, (OFFSETS, OWNED, 0), isolation_level=isolation_level), 12)

    assert [job.wanted[0].upto() for job in site.served] == [end]


def test_what_is_refused_beside_a_log_makes_it_urgent(site: Site) -> None:
    ApiPeer(FETCH_API, site).send(fetching(12, (OFFSETS, OWNED, 0), (ORDERS, COUNT, 0)), 12)

    assert [(job.is_urgent, len(job.wanted)) for job in site.served] == [(True, 1)]


@pytest.mark.parametrize(
    ("index", "leader_epoch", "error", "leader"),
    [
        (OF_ANOTHER, -1, ErrorCode.NOT_LEADER_OR_FOLLOWER, 8),
        (OWNED, -2, ErrorCode.FENCED_LEADER_EPOCH, 7),
        (OWNED, 1, ErrorCode.UNKNOWN_LEADER_EPOCH, -1),
    ],
)
@pytest.mark.parametrize("version", [15, 16])
def test_who_asks_the_wrong_leader_is_told_the_right_one(
    site: Site, version: int, index: int, leader_epoch: int, error: ErrorCode, leader: int
) -> None:
    """From version 16 on with its address."""
    request = fetching(version, (OFFSETS, index, 0), leader_epoch=leader_epoch)
    answer = ApiPeer(FETCH_API, site).ask(request, version)

    [data] = fetched(answer)
    assert (data.error_code, data.current_leader.leader_id) == (error, leader)
    assert isinstance(answer, FetchResponse)
    known = [(leader, "host", 9092 + leader - 7)] if version >= 16 and leader >= 0 else []
    assert [(each.node_id, each.host, each.port) for each in answer.node_endpoints] == known


def test_a_moved_partition_is_read_at_its_new_leader(site: Site) -> None:
    """In its new leader epoch; of the old one, the client is told who leads now."""
    owners = {ShardId(OFFSETS.name, OF_ANOTHER): Owner(7, 4)}
    site.nodes.replace(msgspec.structs.replace(site.nodes.view, version=2, owners=owners))

    [found] = listed(site, 8, (OFFSETS, OF_ANOTHER, LATEST), leader_epoch=3)
    assert (found.error_code, found.offset, found.leader_epoch) == (OK, END, 3)
    [data] = fetched(ApiPeer(FETCH_API, site).ask(fetching(15, (OFFSETS, OF_ANOTHER, 0), leader_epoch=0), 15))
    assert (data.error_code, data.current_leader) == (ErrorCode.FENCED_LEADER_EPOCH, LeaderIdAndEpoch(7, 3))


def test_there_are_no_fetch_sessions(site: Site) -> None:
    answer = ApiPeer(FETCH_API, site).ask(fetching(12, (ORDERS, 0, 0), session_id=5), 12)

    assert isinstance(answer, FetchResponse)
    assert (answer.error_code, answer.responses) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])


@pytest.mark.parametrize("max_wait_ms", [0, 1000])
def test_a_large_fetch_is_answered_like_a_small_one(site: Site, max_wait_ms: int) -> None:
    """In steps. While it waits, it counts as a request that others wait for."""
    indexes = [number % (COUNT + 1) for number in range(3000)]
    topics = [FetchTopic("orders", partitions=[FetchPartition(index, fetch_offset=5) for index in indexes if index < COUNT])]
    if not max_wait_ms:
        topics.append(FetchTopic("orders", partitions=[FetchPartition(index, fetch_offset=5) for index in indexes]))
    peer = ApiPeer(FETCH_API, site)
    peer.send(FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, topics=topics), 12)
    if max_wait_ms:
        [(_, reply, response)] = site.delays
        assert not reply.is_free
        reply.complete(response)

    expected = [
        (each.partition, UNKNOWN if each.partition == COUNT else OK, -1 if each.partition == COUNT else 5)
        for topic in topics
        for each in topic.partitions
    ]
    assert [(each.partition_index, each.error_code, each.high_watermark) for each in fetched(peer.receive(12))] == expected
