"""What producers are answered before and behind the shard of their transactional id, at every version."""

from __future__ import annotations

import pytest

from coordinator_server.server.apis.transaction_partitions import ADD_PARTITIONS_TO_TXN_API
from coordinator_server.server.apis.transactions import (
    ADD_OFFSETS_TO_TXN_API,
    END_TXN_API,
    INIT_PRODUCER_ID_API,
    transaction_error,
)
from coordinator_server.transaction.state import TransactionState
from protocol.error_codes import ErrorCode
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.support.api_peer import ApiPeer
from tests.support.producer import errors_of
from tests.support.transaction_node import TransactionNode
from tests.support.transactions import FIRST_PRODUCER_ID

pytestmark = pytest.mark.interpreted

NONE, REFUSED, ELSEWHERE = ErrorCode.NONE, ErrorCode.INVALID_REQUEST, ErrorCode.NOT_COORDINATOR
LOADING, UNKNOWN = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
FENCED, OLD_FENCED = ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH
NOT_ATTEMPTED = ErrorCode.OPERATION_NOT_ATTEMPTED


@pytest.fixture
def node() -> TransactionNode:
    return TransactionNode()


@pytest.fixture
def producer(node: TransactionNode) -> tuple[int, int]:
    """That of the id ``p``."""
    found = node.log.init("p")
    assert isinstance(found, tuple)
    return found


def topics(*partitions: tuple[str, int]) -> list[AddPartitionsToTxnTopic]:
    return [AddPartitionsToTxnTopic(name, [index]) for name, index in partitions]


def add(
    node: TransactionNode, producer: tuple[int, int], *partitions: tuple[str, int], version: int = 3, id: str = "p"
) -> object:
    """The error of each partition, or of the whole."""
    if version < 4:
        asked = AddPartitionsToTxnRequest([], id, *producer, topics(*partitions))
        return errors_of(node.ask(ADD_PARTITIONS_TO_TXN_API, asked, version).results_by_topic_v3_and_below)
    one = AddPartitionsToTxnTransaction(id, *producer, False, topics(*partitions))
    answer = node.ask(ADD_PARTITIONS_TO_TXN_API, AddPartitionsToTxnRequest([one]), version)
    if answer.error_code:
        return ErrorCode(answer.error_code)
    return errors_of(answer.results_by_transaction[0].topic_results)


class TestInitProducerId:
    @pytest.mark.parametrize("version", range(6))
    def test_without_a_transactional_id_the_loop_gives_one(self, node: TransactionNode, version: int) -> None:
        answers = [node.ask(INIT_PRODUCER_ID_API, InitProducerIdRequest(None), version) for _ in range(2)]

        assert answers == [InitProducerIdResponse(producer_id=each, producer_epoch=0) for each in (70, 71)]

    @pytest.mark.parametrize("version", range(6))
    def test_while_the_loop_has_none_producers_are_to_ask_again(self, node: TransactionNode, version: int) -> None:
        """As while loop 0 is away."""
        node.failure = LOADING
        answer = node.ask(INIT_PRODUCER_ID_API, InitProducerIdRequest(None), version)

        assert answer == InitProducerIdResponse(0, LOADING, -1, -1)

    @pytest.mark.parametrize(("transactional_id", "producer_id"), [(None, 70), ("new", FIRST_PRODUCER_ID)])
    def test_the_first_one_waits_for_the_loops_ids(
        self, node: TransactionNode, transactional_id: str | None, producer_id: int
    ) -> None:
        """A client that is told to ask again does so half a second later."""
        node.failure, node.is_asked = LOADING, True
        peer = ApiPeer(INIT_PRODUCER_ID_API, node)
        peer.send(InitProducerIdRequest(transactional_id, 1000), 5)
        assert peer.is_waiting
        node.failure, node.is_asked = None, False
        for call in node.waiting:
            call()

        assert peer.receive(5) == InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)

    def test_an_init_producer_id_at_another_loop_is_refused_at_once(self, node: TransactionNode) -> None:
        node.is_asked = True
        answer = node.ask(INIT_PRODUCER_ID_API, InitProducerIdRequest("there", 1000), 5)

        assert (answer.error_code, node.waiting) == (ELSEWHERE, [])

    @pytest.mark.parametrize(("transactional_id", "error"), [("", REFUSED), ("there", ELSEWHERE), ("loading", LOADING)])
    def test_a_transactional_id_is_asked_for_at_its_loop(
        self, node: TransactionNode, transactional_id: str, error: ErrorCode
    ) -> None:
        answer = node.ask(INIT_PRODUCER_ID_API, InitProducerIdRequest(transactional_id, 1000), 5)

        assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (error, -1, -1)

    @pytest.mark.parametrize("own", [(-1, 0), (0, -1)])
    @pytest.mark.parametrize("transactional_id", [None, "p", "there"])
    def test_an_id_without_an_epoch_is_refused_first(
        self, node: TransactionNode, transactional_id: str | None, own: tuple[int, int]
    ) -> None:
        assert node.ask(INIT_PRODUCER_ID_API, InitProducerIdRequest(transactional_id, 1000, *own), 3).error_code == REFUSED


@pytest.mark.parametrize(("version", "first", "told"), [(3, 4, OLD_FENCED), (4, 4, FENCED), (1, 2, OLD_FENCED), (2, 2, FENCED)])
def test_old_clients_know_another_word_for_fenced(version: int, first: int, told: ErrorCode) -> None:
    """And no other error changes, but those of the log."""
    assert transaction_error(FENCED, version, first) == told
    assert transaction_error(ErrorCode.INVALID_TXN_STATE, version, first) == ErrorCode.INVALID_TXN_STATE


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ErrorCode.KAFKA_STORAGE_ERROR, ELSEWHERE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ELSEWHERE),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_an_error_of_the_log_is_the_coordinators(error: ErrorCode, told: ErrorCode) -> None:
    """All but the last are tried again."""
    assert transaction_error(error, 5) == told


class TestAddPartitionsToTxn:
    @pytest.mark.parametrize("version", range(6))
    def test_all_partitions_of_a_transaction_are_added(
        self, node: TransactionNode, producer: tuple[int, int], version: int
    ) -> None:
        """With the version of the client's transactions."""
        assert add(node, producer, ("orders", 0), ("orders", 2), version=version) == {("orders", 0): NONE, ("orders", 2): NONE}
        state = node.log.state("p")
        assert state is not None
        assert (state.partitions, state.client_version) == (frozenset({("orders", 0), ("orders", 2)}), 2 if version >= 4 else 0)

    @pytest.mark.parametrize("version", range(6))
    def test_an_unknown_partition_keeps_the_others_out_of_the_transaction(
        self, node: TransactionNode, producer: tuple[int, int], version: int
    ) -> None:
        found = add(node, producer, ("orders", 0), ("orders", 3), ("nothing", 0), version=version)

        assert found == {("orders", 0): NOT_ATTEMPTED, ("orders", 3): UNKNOWN, ("nothing", 0): UNKNOWN}
        assert node.log.states() == [TransactionState.EMPTY]

    def test_internal_topics_are_for_brokers(self, node: TransactionNode, producer: tuple[int, int]) -> None:
        denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        partitions = (("__consumer_offsets", 0), ("__transaction_state", 9), ("orders", 0))

        assert add(node, producer, *partitions) == dict(zip(partitions, (denied, denied, NOT_ATTEMPTED), strict=True))
        assert add(node, producer, partitions[0], partitions[2], version=4) == {partitions[0]: NONE, partitions[2]: NONE}

    def test_a_topic_is_not_unknown_while_the_catalog_may_be_stale(
        self, node: TransactionNode, producer: tuple[int, int]
    ) -> None:
        node.is_current = False

        assert add(node, producer, ("nothing", 0)) == {("nothing", 0): LOADING}
        assert add(node, producer, ("nothing", 0), version=4) == LOADING
        assert add(node, producer, ("orders", 0)) == {("orders", 0): NONE}

    @pytest.mark.parametrize("version", [3, 4])
    @pytest.mark.parametrize(("id", "error"), [("", REFUSED), ("there", ELSEWHERE), ("loading", LOADING)])
    def test_each_id_is_asked_for_at_its_loop(self, node: TransactionNode, version: int, id: str, error: ErrorCode) -> None:
        assert add(node, (1, 0), ("orders", 0), version=version, id=id) == {("orders", 0): error}

    def test_many_transactions_are_answered_in_their_order(self, node: TransactionNode, producer: tuple[int, int]) -> None:
        """In steps, each with its own result."""
        asked = [AddPartitionsToTxnTransaction("nobody", 1, 0, False, topics(("orders", 1))) for _ in range(200)]
        asked[77] = AddPartitionsToTxnTransaction("p", *producer, False, topics(("orders", 1)))
        asked[78] = AddPartitionsToTxnTransaction("p", *producer, True, topics(("orders", 1), ("orders", 2)))
        answer = node.ask(ADD_PARTITIONS_TO_TXN_API, AddPartitionsToTxnRequest(asked), 5)

        found = [errors_of(each.topic_results) for each in answer.results_by_transaction]
        assert found[77:79] == [
            {("orders", 1): NONE},
            {("orders", 1): NONE, ("orders", 2): ErrorCode.TRANSACTION_ABORTABLE},
        ]
        assert found[:77] + found[79:] == [{("orders", 1): ErrorCode.INVALID_PRODUCER_ID_MAPPING}] * 198
        assert answer.results_by_transaction[77].transactional_id == "p"

    @pytest.mark.parametrize(("count", "is_refused"), [(4_998, False), (4_999, True)])
    def test_the_elements_of_a_request_are_limited(self, node: TransactionNode, count: int, is_refused: bool) -> None:
        """Transactions, topics and partitions together."""
        asked = AddPartitionsToTxnRequest(
            [AddPartitionsToTxnTransaction("p", 1, 0, False, [AddPartitionsToTxnTopic("orders", [0] * count)])]
        )
        answer = node.ask(ADD_PARTITIONS_TO_TXN_API, asked, 4)

        assert (answer.error_code == ErrorCode.POLICY_VIOLATION) is is_refused

    def test_a_repeated_partition_is_answered_as_often(self, node: TransactionNode, producer: tuple[int, int]) -> None:
        """As in Kafka: once when it is refused."""
        asked = AddPartitionsToTxnRequest([], "p", *producer, [AddPartitionsToTxnTopic("orders", [1, 1])] * 2)
        added = node.ask(ADD_PARTITIONS_TO_TXN_API, asked, 3).results_by_topic_v3_and_below
        asked.v3_and_below_topics = [AddPartitionsToTxnTopic("orders", [9, 9])] * 2
        refused = node.ask(ADD_PARTITIONS_TO_TXN_API, asked, 3).results_by_topic_v3_and_below

        assert [len(topic.results_by_partition) for topic in added] == [2, 2]
        assert [len(topic.results_by_partition) for topic in refused] == [1]


@pytest.mark.parametrize(("transactional_id", "error"), [("", REFUSED), ("there", ELSEWHERE), ("p", NONE)])
def test_a_groups_partition_is_added(
    node: TransactionNode, producer: tuple[int, int], transactional_id: str, error: ErrorCode
) -> None:
    answer = node.ask(ADD_OFFSETS_TO_TXN_API, AddOffsetsToTxnRequest(transactional_id, *producer, "group"), 4)

    assert answer.error_code == error
    state = node.log.state("p")
    assert state is not None
    assert state.partitions == ({("__consumer_offsets", 5)} if error == NONE else frozenset())


@pytest.mark.parametrize("version", range(6))
def test_the_end_is_answered_with_the_next_epoch_or_an_error(
    node: TransactionNode, producer: tuple[int, int], version: int
) -> None:
    node.log.add("p", producer, ("orders", 0))
    told = [node.ask(END_TXN_API, EndTxnRequest(each, *producer, True), version) for each in ("", "there", "loading", "p")]

    producer_id, epoch = (producer[0], producer[1] + 1) if version == 5 else (-1, -1)
    assert told == [
        EndTxnResponse(0, REFUSED, -1, -1),
        EndTxnResponse(0, ELSEWHERE, -1, -1),
        EndTxnResponse(0, LOADING, -1, -1),
        EndTxnResponse(0, NONE, producer_id, epoch),
    ]
