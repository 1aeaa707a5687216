"""TxnOffsetCommit at the loop of the group, with the transactional id's shard elsewhere: its answers come when a test says so."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.kinds import TRANSACTIONS
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.machine.outbox import Effect
from coordinator_server.machine.shard import Producer, Reply, TransactionResult
from coordinator_server.runtime.producers import EndOfTransaction
from coordinator_server.server.apis.txn_offset_commit import TXN_OFFSET_COMMIT_API
from coordinator_server.server.hosting.transaction_messages import ADD_GROUP, FIND_GROUP, GroupInTransaction
from protocol.error_codes import ErrorCode
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from tests.support.api_peer import ApiPeer
from tests.support.group_runtime import GroupRuntime
from tests.support.read_by_name import ReadByName
from tests.support.runtime import Outcome

pytestmark = pytest.mark.interpreted

PRODUCER = Producer(9, 1)
COUNT = 3
THERE = ShardId(TRANSACTIONS.topic, 17)
VERSIONS = range(6)
NONE = ErrorCode.NONE
Errors = dict[tuple[str, int], ErrorCode]


class Server:
    """It has the topic ``orders`` and one shard of groups. Messages to other shards wait in ``asked``."""

    def __init__(self) -> None:
        self.log = GroupRuntime()
        self.groups = self.log.runtime
        self.topics = {"orders": Topic("orders", b"i" * 16, COUNT), TRANSACTIONS.topic: Topic(TRANSACTIONS.topic, b"t" * 16, 50)}
        self.asked: list[tuple[Effect[Any, Any], GroupInTransaction, Reply[Any]]] = []
        # The node's catalog, its image of topics, and its courier.
        self.catalog, self.image, self.courier = ReadByName(self), self, self
        self.peer = ApiPeer(TXN_OFFSET_COMMIT_API, self)

    def topic(self, name: str) -> Topic | None:
        return self.topics.get(name)

    def check_current(self) -> None:
        """It is."""

    def partition_of(self, group_id: str) -> int:
        return 0

    def locate(self, topic: str, to: str) -> ShardId:
        assert (topic, to) == (TRANSACTIONS.topic, "tx")
        return THERE

    def carry(
        self, sender: Ownership, shard: ShardId, effect: Effect[Any, Any], request: GroupInTransaction, reply: Reply[Any]
    ) -> None:
        assert (sender, shard) == (self.groups.ownership(0), THERE)
        self.asked.append((effect, request, reply))

    def send(
        self, version: int, partitions: tuple[int, ...] = (0,), *, topic: str = "orders", group: str = "g", epoch: int = 1
    ) -> None:
        offsets = [TxnOffsetCommitRequestPartition(index, 5) for index in partitions]
        request = TxnOffsetCommitRequest("tx", group, PRODUCER.id, epoch, topics=[TxnOffsetCommitRequestTopic(topic, offsets)])
        self.peer.send(request, version)

    def receive(self, version: int) -> Errors:
        self.log.finish()
        answer = self.peer.receive(version)
        assert isinstance(answer, TxnOffsetCommitResponse)
        errors = [
            ((topic.name, each.partition_index), ErrorCode(each.error_code))
            for topic in answer.topics
            for each in topic.partitions
        ]
        assert len(errors) == len(dict(errors))
        return dict(errors)

    def answer(self, response: object) -> None:
        """The transactional id's shard answers, or refuses with an error."""
        [(_, _, reply)] = self.asked
        self.asked.clear()
        if isinstance(response, ErrorCode):
            reply.fail(response)
        else:
            reply.complete(response)

    def end(self, epoch: int, result: TransactionResult = TransactionResult.COMMIT) -> None:
        self.groups.complete_transaction(0, EndOfTransaction(Producer(PRODUCER.id, epoch), result, 2), Outcome())
        self.log.finish()

    def open(self) -> None:
        """PRODUCER has committed an offset in its transaction."""
        self.send(5)
        self.answer(None)
        self.receive(5)


@pytest.fixture
def server() -> Server:
    return Server()


def agreed(version: int) -> bool | None:
    """What the transactional id's shard answers if all is well."""
    return None if version >= 5 else True


@pytest.mark.parametrize("version", VERSIONS)
def test_the_transaction_is_asked_for_first(server: Server, version: int) -> None:
    """From version 5 on, the group becomes part of it. The offsets count when it commits."""
    server.send(version)
    [(effect, request, _)] = server.asked
    is_waiting = server.peer.is_waiting
    server.answer(agreed(version))
    errors = server.receive(version)
    before = server.log.committed("g")
    server.end(PRODUCER.epoch + 1)

    assert effect is (ADD_GROUP if version >= 5 else FIND_GROUP)
    assert request == GroupInTransaction("tx", 9, 1, 0, 2, "client", request.client_host, 28, version, request.principal)
    assert (is_waiting, errors) == (True, {("orders", 0): NONE})
    assert (before, server.log.committed("g")) == ({}, {("orders", 0): 5})


def test_the_second_commit_of_a_transaction_asks_nobody(server: Server) -> None:
    server.open()
    server.send(4, (1, 2))

    assert server.asked == []
    assert server.receive(4) == {("orders", 1): NONE, ("orders", 2): NONE}


@pytest.mark.parametrize(
    ("version", "answer", "error"),
    [
        (3, False, ErrorCode.INVALID_TXN_STATE),
        (4, False, ErrorCode.TRANSACTION_ABORTABLE),
        (0, ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        (3, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH),
        (5, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH),
        (5, ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.CONCURRENT_TRANSACTIONS),
        (5, ErrorCode.NETWORK_EXCEPTION, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (2, ErrorCode.NETWORK_EXCEPTION, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        # Clients of these versions could break at the other error.
        (1, ErrorCode.NETWORK_EXCEPTION, ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_what_the_transaction_refuses(server: Server, version: int, answer: object, error: ErrorCode) -> None:
    server.send(version, (0, 2))
    server.answer(answer)

    assert server.receive(version) == {("orders", 0): error, ("orders", 2): error}
    assert server.groups.last_stable_offset(0) == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_a_marker_between_the_answer_and_the_append_refuses_it(server: Server, version: int) -> None:
    """Otherwise the offsets would belong to no transaction, and wait for ever."""
    server.send(version)
    server.end(PRODUCER.epoch + 1, TransactionResult.ABORT)
    server.answer(agreed(version))

    assert server.receive(version) == {("orders", 0): ErrorCode.INVALID_PRODUCER_EPOCH}


def test_a_producer_of_an_older_epoch_is_refused_at_once(server: Server) -> None:
    server.open()
    server.end(3)
    server.send(5, epoch=2)

    assert (server.asked, server.receive(5)) == ([], {("orders", 0): ErrorCode.INVALID_PRODUCER_EPOCH})


@pytest.mark.parametrize("version", VERSIONS)
def test_partitions_that_do_not_exist_are_refused_alone(server: Server, version: int) -> None:
    server.send(version, (0, COUNT))
    server.answer(agreed(version))

    assert server.receive(version) == {("orders", COUNT): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ("orders", 0): NONE}


def test_a_topic_that_does_not_exist_asks_nobody(server: Server) -> None:
    server.send(5, (0, 1), topic="strange")
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    assert (server.asked, server.receive(5)) == ([], {("strange", 0): unknown, ("strange", 1): unknown})


def test_a_large_request_is_checked_in_steps(server: Server) -> None:
    """With the same outcome."""
    many = 4_000
    topics = [TxnOffsetCommitRequestTopic(f"strange-{number}", [TxnOffsetCommitRequestPartition(0, 5)]) for number in range(many)]
    topics.append(TxnOffsetCommitRequestTopic("orders", [TxnOffsetCommitRequestPartition(index, 5) for index in (1, COUNT)]))
    server.peer.send(TxnOffsetCommitRequest("tx", "g", PRODUCER.id, PRODUCER.epoch, topics=topics), 5)
    server.answer(None)
    errors = server.receive(5)

    assert errors.pop(("orders", 1)) is NONE
    assert len(errors) == many + 1
    assert set(errors.values()) == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


def test_a_group_needs_a_name(server: Server) -> None:
    server.send(5, group="")

    assert (server.asked, server.receive(5)) == ([], {("orders", 0): ErrorCode.INVALID_GROUP_ID})


def test_without_transactional_ids_there_is_no_coordinator(server: Server) -> None:
    """The request does not create their topic."""
    del server.topics[TRANSACTIONS.topic]
    server.send(5)

    assert (server.asked, server.receive(5)) == ([], {("orders", 0): ErrorCode.COORDINATOR_NOT_AVAILABLE})


def test_the_groups_own_checks_follow(server: Server) -> None:
    offsets = [TxnOffsetCommitRequestPartition(0, 5)]
    topics = [TxnOffsetCommitRequestTopic("orders", offsets)]
    server.peer.send(TxnOffsetCommitRequest("tx", "g", PRODUCER.id, PRODUCER.epoch, 7, "stranger", topics=topics), 5)
    server.answer(None)

    assert server.receive(5) == {("orders", 0): ErrorCode.ILLEGAL_GENERATION}
