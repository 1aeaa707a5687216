"""WriteTxnMarkers and DescribeProducers at a loop that has the even partitions of each topic."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import Fenced, LogError, Unavailable
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Producer
from coordinator_server.runtime.deadlines import TICKS
from coordinator_server.runtime.errors import error_for
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.producers import DESCRIBE_PRODUCERS_API, MARKERS_PER_STEP, WRITE_TXN_MARKERS_API
from protocol.error_codes import ErrorCode
from protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
)
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from tests.support.api_peer import ApiPeer
from tests.support.group_runtime import GroupRuntime
from tests.support.runtime import CONTEXT, Outcome
from tests.support.views import loops_nodes

COMMIT = WriteOperation("commit-in-transaction", GroupShard.commit_in_transaction)
PRODUCER = Producer(9, 1)
DEADLINE_MS = 5000
NONE, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NOT_HERE, FENCED = ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.INVALID_PRODUCER_EPOCH
OFFSETS = GROUPS.topic
Errors = dict[tuple[int, str, int], ErrorCode]


class Server:
    """It has the topic ``orders`` and partition 0 of the groups' log, in which PRODUCER has a transaction open."""

    def __init__(self) -> None:
        self.log = GroupRuntime(deadline_ms=DEADLINE_MS)
        self.groups = self.log.runtime
        self.nodes = loops_nodes(2)
        self.image = self
        self.is_current = True
        self._topics = {name: Topic(name, b"i" * 16, 4) for name in ("orders", OFFSETS)}
        self.producers = ApiPeer(DESCRIBE_PRODUCERS_API, self)
        # The last one has the steps.
        self.markers = ApiPeer(WRITE_TXN_MARKERS_API, self)
        topics = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 5)])]
        claim = self.groups.claim(0, PRODUCER, bumps_epoch=True)
        self.groups.write(0, COMMIT, CONTEXT, OffsetCommitRequest("g", topics=topics), Outcome(), claim)
        self.log.finish()

    def topic(self, name: str) -> Topic | None:
        return self._topics.get(name)

    def check_current(self) -> None:
        if not self.is_current:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

    def write(self, *markers: WritableTxnMarker, version: int = 2) -> Errors:
        self.markers.send(WriteTxnMarkersRequest(list(markers)), version)
        self.log.finish()
        return self.received(version)

    def received(self, version: int = 2) -> Errors:
        """The errors of the one answer that has come."""
        answer = self.markers.receive(version)
        assert isinstance(answer, WriteTxnMarkersResponse)
        return {
            (result.producer_id, topic.name, one.partition_index): ErrorCode(one.error_code)
            for result in answer.markers
            for topic in result.topics
            for one in topic.partitions
        }

    def describe(self, topic: str, *partitions: int) -> list[PartitionResponse]:
        answer = self.producers.ask(DescribeProducersRequest([TopicRequest(topic, list(partitions))]), 0)
        assert isinstance(answer, DescribeProducersResponse)
        [found] = answer.topics
        assert found.name == topic
        return found.partitions


@pytest.fixture
def server() -> Server:
    return Server()


def marker(epoch: int = 2, *, is_commit: bool = True, coordinator_epoch: int = 0, version: int = 2, **topics: list[int]) -> Any:
    """A marker of PRODUCER. ``topics`` are partitions by topic; ``offsets`` is the groups' log."""
    partitions = [WritableTxnMarkerTopic(OFFSETS if name == "offsets" else name, each) for name, each in topics.items()]
    return WritableTxnMarker(PRODUCER.id, epoch, is_commit, partitions, coordinator_epoch, version)


@pytest.mark.parametrize(("is_commit", "committed"), [(True, {("orders", 0): 5}), (False, {})])
def test_a_marker_ends_the_transaction(server: Server, committed: dict[tuple[str, int], int], *, is_commit: bool) -> None:
    errors = server.write(marker(is_commit=is_commit, offsets=[0]))

    assert errors == {(9, OFFSETS, 0): NONE}
    assert server.log.committed("g") == committed


@pytest.mark.parametrize(("version", "transaction_version", "error"), [(1, 0, NONE), (2, 1, NONE), (2, 2, FENCED)])
def test_the_version_says_whether_the_epoch_must_be_higher(
    server: Server, version: int, transaction_version: int, error: ErrorCode
) -> None:
    errors = server.write(marker(PRODUCER.epoch, version=transaction_version, offsets=[0]), version=version)

    assert errors == {(9, OFFSETS, 0): error}


def test_an_older_coordinator_is_refused(server: Server) -> None:
    server.write(marker(coordinator_epoch=4, offsets=[0]))

    assert server.write(marker(3, coordinator_epoch=3, offsets=[0])) == {
        (9, OFFSETS, 0): ErrorCode.TRANSACTION_COORDINATOR_FENCED
    }


def test_each_partition_has_its_own_answer(server: Server) -> None:
    """Partition 1 is another loop's, 2 has not been loaded, 4 does not exist. A virtual topic has no log."""
    errors = server.write(marker(offsets=[0, 1, 2, 4], orders=[0, 1], strange=[0]))

    assert errors == {
        (9, OFFSETS, 0): NONE,
        (9, OFFSETS, 1): UNKNOWN,
        (9, OFFSETS, 2): NOT_HERE,
        (9, OFFSETS, 4): UNKNOWN,
        (9, "orders", 0): NONE,
        (9, "orders", 1): UNKNOWN,
        (9, "strange", 0): UNKNOWN,
    }


def test_markers_that_are_late_to_be_durable_are_answered_at_the_deadline(server: Server) -> None:
    """As by Kafka, which does not translate this error (KafkaApis). The marker may still be written."""
    server.markers.send(WriteTxnMarkersRequest([marker(offsets=[0], orders=[0])]), 2)
    server.log.turn()
    for _ in range(2 * TICKS):
        server.log.pass_time(DEADLINE_MS // TICKS)

    assert server.received() == {(9, OFFSETS, 0): ErrorCode.REQUEST_TIMED_OUT, (9, "orders", 0): NONE}
    assert server.log.committed("g") == {}
    server.log.finish()
    assert server.log.committed("g") == {("orders", 0): 5}
    assert server.markers.is_waiting


@pytest.mark.parametrize("failure", [Unavailable("no room"), Fenced("epoch 2")])
def test_an_error_of_the_log_is_not_translated(server: Server, failure: LogError) -> None:
    server.markers.send(WriteTxnMarkersRequest([marker(offsets=[0])]), 2)
    server.log.turn()
    server.log.store.finish({server.log.shard_id: failure})

    assert server.received() == {(9, OFFSETS, 0): error_for(failure)}


def test_no_batch_without_a_producer_is_written(server: Server) -> None:
    broken = [WritableTxnMarker(-1, 0, True, [WritableTxnMarkerTopic(OFFSETS, [0])]), marker(-1, offsets=[0], orders=[0])]
    before = server.log.store.end_offset(server.log.shard_id)

    assert set(server.write(*broken).values()) == {ErrorCode.UNKNOWN_SERVER_ERROR}
    assert server.log.store.end_offset(server.log.shard_id) == before


def test_markers_without_partitions_have_an_empty_answer(server: Server) -> None:
    assert server.write() == {}
    assert server.write(marker()) == {}


def test_many_markers_are_written_in_steps(server: Server) -> None:
    """With one answer."""
    many = [
        WritableTxnMarker(1_000 + number, 0, False, [WritableTxnMarkerTopic(OFFSETS, [0])])
        for number in range(MARKERS_PER_STEP + 1)
    ]
    errors = server.write(*many)

    assert errors == {(1_000 + number, OFFSETS, 0): NONE for number in range(MARKERS_PER_STEP + 1)}


def test_a_loop_that_does_not_know_the_topics_says_so(server: Server) -> None:
    server.is_current = False

    assert server.write(marker(strange=[0])) == {(9, "strange", 0): NOT_HERE}
    assert [one.error_code for one in server.describe("strange", 0)] == [NOT_HERE]


def test_producers_are_described(server: Server) -> None:
    now_ms = server.log.clock.wall_ms()
    opened = server.describe(OFFSETS, 0)
    server.write(marker(coordinator_epoch=3, offsets=[0]))
    ended = server.describe(OFFSETS, 0)

    assert opened == [PartitionResponse(0, active_producers=[ProducerState(9, 1, 0, now_ms, -1, 0)])]
    assert ended == [PartitionResponse(0, active_producers=[ProducerState(9, 2, -1, now_ms, 3, -1)])]


@pytest.mark.parametrize(
    ("topic", "partition", "error"),
    [
        (OFFSETS, 1, NOT_HERE),
        (OFFSETS, 2, NOT_HERE),
        (OFFSETS, 4, UNKNOWN),
        ("orders", 0, NONE),
        ("orders", 1, NOT_HERE),
        ("strange", 0, UNKNOWN),
        ("not a name", 0, ErrorCode.INVALID_TOPIC_EXCEPTION),
    ],
)
def test_partitions_without_producers(server: Server, topic: str, partition: int, error: ErrorCode) -> None:
    [found] = server.describe(topic, partition)

    assert (found.partition_index, found.error_code, found.active_producers) == (partition, error, [])
    # As in Kafka, there is a message for a topic, and none for a partition.
    assert (found.error_message is not None) is (topic in {"strange", "not a name"})
