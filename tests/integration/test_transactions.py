"""The transaction coordinator over sockets, with one loop and with two. Every answer was seen on a 4.3.1 broker."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.producer import Answer, Producer, errors_of
from tests.support.server import Server
from tests.support.simple_requests import OF_TRANSACTIONS

NONE, FENCED, OLD_FENCED = ErrorCode.NONE, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH
MAPPING, STATE, REFUSED = ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_TXN_STATE, ErrorCode.INVALID_REQUEST
UNKNOWN, NOT_ATTEMPTED = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
OFFSETS = "__consumer_offsets"
# They belong to different loops of two.
IDS = ["producer-0", "producer-1", "producer-2", "producer-3"]


class Make(Protocol):
    def __call__(self, transactional_id: str | None = ..., /) -> Producer: ...


PROPERTIES = {
    "topics": "orders:3,payments:2",
    "auto.create.topics.enable": False,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 50,
    "transaction.max.partitions": 20,
}
LOOPS, LOOP_NAMES = [1, 2], ["one-loop", "two-loops"]
new_ids = count()


@pytest.fixture(scope="module", params=LOOPS, ids=LOOP_NAMES)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests that need none of their own: each has transactional ids of its own."""
    with Server(tmp_path_factory.mktemp("shared"), PROPERTIES, loops=request.param) as server:
        yield server


@pytest.fixture(params=LOOPS, ids=LOOP_NAMES)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server of the test's own, which it may kill, and whose transactional ids it knows."""
    with Server(tmp_path, PROPERTIES, loops=request.param) as server:
        yield server


@contextmanager
def producers_of(server: Server) -> Iterator[Make]:
    producers: list[Producer] = []

    def make(transactional_id: str | None = None) -> Producer:
        producers.append(Producer(server.address, transactional_id or f"new-{next(new_ids)}"))
        assert producers[-1].init().error == NONE
        return producers[-1]

    yield make
    for producer in producers:
        producer.client.close()


@pytest.fixture
def make(shared: Server) -> Iterator[Make]:
    """Makes producers with an epoch, each with a new transactional id unless it is given one."""
    with producers_of(shared) as make:
        yield make


@pytest.fixture
def make_there(server: Server) -> Iterator[Make]:
    """The same at the test's own server."""
    with producers_of(server) as make:
        yield make


def listed(server: Server, version: int = 2, **filters: Any) -> tuple[set[ErrorCode], list[str], dict[str, str]]:
    """Errors, unknown states, and the state of each id that a loop lists; of all loops."""
    errors: set[ErrorCode] = set()
    unknown: list[str] = []
    found: dict[str, str] = {}
    for address in server.addresses:
        with Client(address) as client:
            answer = client.ask(ListTransactionsRequest(**filters), version, ListTransactionsResponse)
        errors.add(ErrorCode(answer.error_code))
        unknown = answer.unknown_state_filters
        found |= {each.transactional_id: each.transaction_state for each in answer.transaction_states}
    return errors, unknown, found


class TestInitProducerId:
    @pytest.mark.parametrize("version", range(6))
    def test_without_a_transactional_id_every_loop_gives_ids(self, shared: Server, version: int) -> None:
        """All different, each with epoch 0; the timeout counts for nothing, and neither does an id that the producer had."""
        found = []
        for address in shared.addresses * 3:
            with Client(address) as client:
                own = (7, 3) if version >= 3 else (-1, -1)
                request = InitProducerIdRequest(None, -5, *own)
                answer = client.ask(request, version, InitProducerIdResponse)
            found.append(answer.producer_id)
            assert (answer.error_code, answer.producer_epoch) == (NONE, 0)

        assert len(set(found)) == len(found)

    def test_the_first_transactional_ids_need_not_ask_again(self, server: Server) -> None:
        """Of a new server, and after a restart: one FindCoordinator, one InitProducerId."""
        for number in range(2):
            for transactional_id in IDS:
                new_id = f"{transactional_id}-{number}"
                with Client(server.address) as client:
                    asked = FindCoordinatorRequest(key_type=OF_TRANSACTIONS, coordinator_keys=[new_id])
                    [found] = client.ask(asked, 4, FindCoordinatorResponse).coordinators
                assert found.error_code == NONE
                with Client((found.host, found.port)) as client:
                    answer = client.ask(InitProducerIdRequest(new_id, 60_000), 4, InitProducerIdResponse)
                assert (answer.error_code, answer.producer_epoch) == (NONE, 0)
            server.kill()
            server.start()

    @pytest.mark.parametrize(
        ("transactional_id", "timeout_ms", "own", "error"),
        [
            ("", 1000, (-1, -1), REFUSED),
            (IDS[0], 1000, (7, -1), REFUSED),
            (IDS[0], 1000, (-1, 7), REFUSED),
            (None, 1000, (7, -1), REFUSED),
            (IDS[0], 0, (-1, -1), ErrorCode.INVALID_TRANSACTION_TIMEOUT),
            (IDS[0], 900_001, (-1, -1), ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        ],
    )
    def test_invalid_ids_and_timeouts_are_refused(
        self, make: Make, transactional_id: str | None, timeout_ms: int, own: tuple[int, int], error: ErrorCode
    ) -> None:
        client = make(IDS[0]).client
        answer = client.ask(InitProducerIdRequest(transactional_id, timeout_ms, *own), 5, InitProducerIdResponse)

        assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (error, -1, -1)

    def test_each_request_takes_an_epoch_at_every_version(self, make: Make) -> None:
        producer = make()

        assert [producer.init(version=version).epoch for version in range(6)] == [1, 2, 3, 4, 5, 6]

    def test_old_clients_know_another_word_for_a_fenced_producer(self, make: Make) -> None:
        producer = make()

        answers = [producer.init(version=version, own=(1 << 40, 0)).error for version in (3, 4, 5)]

        assert answers == [OLD_FENCED, FENCED, FENCED]

    def test_ones_own_id_with_any_wrong_epoch_aborts_the_open_transaction(self, make: Make) -> None:
        """Seen on a broker: CONCURRENT_TRANSACTIONS, and then the epoch is wrong."""
        producer = make()
        producer.add({"orders": [0]})
        own = (producer.producer_id, 44)

        assert producer.init(own=own, waits=False).error == ErrorCode.CONCURRENT_TRANSACTIONS
        producer.until("CompleteAbort")
        assert producer.init(own=own).error == FENCED

    def test_an_open_transaction_ends_before_the_next_epoch(self, make: Make) -> None:
        producer = make()
        producer.add({"orders": [0], "payments": [1]})

        assert producer.init(waits=False).error == ErrorCode.CONCURRENT_TRANSACTIONS
        assert producer.init().epoch == 2


class TestAddPartitionsToTxn:
    @pytest.mark.parametrize("version", range(6))
    def test_partitions_join_the_transaction(self, make: Make, version: int) -> None:
        producer = make()
        added = producer.add({"orders": [0, 2], "payments": [1]}, version=version)

        assert added == {("orders", 0): NONE, ("orders", 2): NONE, ("payments", 1): NONE}
        found = producer.described()
        assert (found.transaction_state, found.transaction_timeout_ms) == ("Ongoing", 60_000)
        assert [(topic.topic, topic.partitions) for topic in found.topics] == [("orders", [0, 2]), ("payments", [1])]
        assert 0 < found.transaction_start_time_ms <= time.time() * 1000

    @pytest.mark.parametrize("version", range(6))
    def test_an_unknown_partition_keeps_the_others_out_of_the_transaction(self, make: Make, version: int) -> None:
        producer = make()
        added = producer.add({"orders": [0, 3, -1], "nothing": [0]}, version=version)

        assert added == {("orders", 0): NOT_ATTEMPTED, ("orders", 3): UNKNOWN, ("orders", -1): UNKNOWN, ("nothing", 0): UNKNOWN}
        assert producer.described().transaction_state == "Empty"

    @pytest.mark.parametrize(
        ("version", "errors"), [(3, (ErrorCode.TOPIC_AUTHORIZATION_FAILED, NOT_ATTEMPTED)), (4, (NONE, NONE))]
    )
    def test_internal_topics_are_not_for_clients(self, make: Make, version: int, errors: tuple[ErrorCode, ErrorCode]) -> None:
        """Groups' offsets join by AddOffsetsToTxn, or in the form of brokers."""
        added = make().add({OFFSETS: [3], "orders": [0]}, version=version)

        assert (added[OFFSETS, 3], added["orders", 0]) == errors

    @pytest.mark.parametrize(
        ("version", "error"), [(0, OLD_FENCED), (1, OLD_FENCED), (2, FENCED), (3, FENCED), (4, FENCED), (5, FENCED)]
    )
    def test_a_fenced_producer_adds_nothing(self, make: Make, version: int, error: ErrorCode) -> None:
        producer = make()
        producer.epoch += 1
        added = producer.add({"orders": [0]}, version=version)
        producer.producer_id += 1 << 40

        assert (added, producer.add({"orders": [0]}, version=version)) == ({("orders", 0): error}, {("orders", 0): MAPPING})

    @pytest.mark.parametrize("version", [0, 3, 4, 5])
    def test_an_empty_list_begins_a_transaction(self, make: Make, version: int) -> None:
        """Seen on a broker."""
        producer = make()

        assert producer.add({}, version=version) == {}
        assert producer.described().transaction_state == "Ongoing"
        assert producer.end(version=5 if version >= 4 else 3).error == NONE
        assert producer.until("CompleteCommit").topics == []

    def test_several_transactions_in_one_request(self, shared: Server, make: Make) -> None:
        """Each has its own result; those of other loops are refused there."""
        here = make(IDS[0])
        others = [make(each) for each in IDS[1:]]
        topics = [AddPartitionsToTxnTopic("orders", [1])]
        asked = [AddPartitionsToTxnTransaction(each.id, each.producer_id, each.epoch, False, topics) for each in [here, *others]]
        asked.append(AddPartitionsToTxnTransaction("", 1, 0, False, topics))
        answer = here.client.ask(AddPartitionsToTxnRequest(asked), 5, AddPartitionsToTxnResponse)

        assert answer.error_code == NONE
        loop_of = {each: partition_for(each, 50) % shared.loops for each in IDS}
        expected = [(each, NONE if loop_of[each] == loop_of[here.id] else ErrorCode.NOT_COORDINATOR) for each in IDS]
        found = [(each.transactional_id, errors_of(each.topic_results)["orders", 1]) for each in answer.results_by_transaction]
        assert found == [*expected, ("", REFUSED)]

    def test_no_transactions_are_answered_at_once(self, make: Make) -> None:
        """A broker never answers."""
        answer = make().client.ask(AddPartitionsToTxnRequest([]), 5, AddPartitionsToTxnResponse)

        assert answer == AddPartitionsToTxnResponse()

    def test_a_check_adds_nothing(self, make: Make) -> None:
        producer = make()
        producer.add({"orders": [0]})

        assert producer.add({"orders": [0, 1]}, version=5, is_check=True) == {
            ("orders", 0): NONE,
            ("orders", 1): ErrorCode.TRANSACTION_ABORTABLE,
        }
        assert [topic.partitions for topic in producer.described().topics] == [[0]]
        producer.epoch += 1
        assert producer.add({"orders": [0]}, version=4, is_check=True) == {("orders", 0): FENCED}

    def test_a_transaction_has_a_limit(self, make: Make) -> None:
        producer = make()
        client = producer.client
        asked = AddPartitionsToTxnTransaction(producer.id, 1, 0, False, [AddPartitionsToTxnTopic("orders", [0] * 30)])

        assert set(producer.add({"orders": [0] * 30}).values()) == {ErrorCode.POLICY_VIOLATION}
        answer = client.ask(AddPartitionsToTxnRequest([asked]), 5, AddPartitionsToTxnResponse)
        assert (answer.error_code, answer.results_by_transaction) == (ErrorCode.POLICY_VIOLATION, [])
        assert set(producer.add({OFFSETS: range(18)}, version=5).values()) == {NONE}
        assert set(producer.add({"orders": range(3)}, version=5).values()) == {ErrorCode.POLICY_VIOLATION}


class TestAddOffsetsToTxn:
    @pytest.mark.parametrize("version", range(5))
    def test_a_groups_partition_joins(self, make: Make, version: int) -> None:
        producer = make()

        assert producer.add_offsets("group", version=version) == NONE
        [topic] = producer.described().topics
        assert (topic.topic, topic.partitions) == (OFFSETS, [partition_for("group", 50)])
        assert producer.add_offsets("", version=version) == NONE

    @pytest.mark.parametrize(("version", "error"), [(0, OLD_FENCED), (1, OLD_FENCED), (2, FENCED), (3, FENCED), (4, FENCED)])
    def test_groups_offsets_of_fenced_or_unknown_producers_are_refused(self, make: Make, version: int, error: ErrorCode) -> None:
        producer = make()
        producer.epoch += 1
        answers = [producer.add_offsets("group", version=version)]
        producer.producer_id += 1 << 40
        answers.append(producer.add_offsets("group", version=version))
        producer.id = ""
        answers.append(producer.add_offsets("group", version=version))

        assert answers == [error, MAPPING, REFUSED]


class TestEndTxn:
    @pytest.mark.parametrize("is_commit", [True, False])
    @pytest.mark.parametrize("version", range(6))
    def test_it_ends_with_markers_in_every_group(self, make: Make, version: int, is_commit: bool) -> None:
        """Only version 5 takes an epoch. A repeated request gets the same answer."""
        producer = make()
        for group in range(12):
            assert producer.add_offsets(f"group-{group}") == NONE
        epoch = producer.epoch
        first = producer.end(is_commit=is_commit, version=version)
        producer.until("CompleteCommit" if is_commit else "CompleteAbort")
        after, producer.epoch = producer.epoch, epoch

        assert first.error == NONE
        assert after == epoch + (version == 5)
        assert producer.end(is_commit=is_commit, version=version) == first
        producer.epoch = epoch
        assert producer.end(is_commit=not is_commit, version=version).error == STATE

    @pytest.mark.parametrize(("version", "error"), [(0, OLD_FENCED), (1, OLD_FENCED), (2, FENCED), (5, FENCED)])
    def test_ends_of_fenced_or_unknown_producers_are_refused(self, make: Make, version: int, error: ErrorCode) -> None:
        producer = make()
        producer.epoch += 7
        answers = [producer.end(version=version)]
        producer.producer_id += 1 << 40
        answers.append(producer.end(version=version))
        producer.id = ""
        answers.append(producer.end(version=version))

        assert answers == [Answer(error), Answer(MAPPING), Answer(REFUSED)]

    def test_abort_of_nothing_takes_an_epoch_and_commit_of_nothing_is_refused(self, make: Make) -> None:
        """In version 5; before, both are refused."""
        producer = make()

        assert [producer.end(is_commit=each, version=3).error for each in (True, False)] == [STATE, STATE]
        assert producer.end().error == STATE
        assert producer.end(is_commit=False).epoch == 1
        producer.until("CompleteAbort")
        assert producer.end().error == STATE
        assert producer.end(is_commit=False).epoch == 2

    @pytest.mark.parametrize(("version", "error"), [(5, STATE), (3, FENCED), (1, OLD_FENCED)])
    def test_a_commit_after_a_timeout(self, make: Make, version: int, error: ErrorCode) -> None:
        producer = make()
        producer.init(timeout_ms=1)
        producer.add({"orders": [0]})
        producer.until("CompleteAbort")

        assert producer.end(version=version).error == error

    def test_a_transaction_that_nobody_ends_is_aborted(self, make: Make) -> None:
        """Its producer is fenced by an epoch, and goes on with its own id."""
        producer = make()
        producer.init(timeout_ms=1)
        producer.add_offsets("group")
        found = producer.until("CompleteAbort")

        assert found.producer_epoch == producer.epoch + 1
        assert producer.init(own=(producer.producer_id, producer.epoch)).error == NONE


class TestDescribeAndList:
    def test_each_id_that_is_asked_for_is_described(self, make: Make) -> None:
        """As often as it is named."""
        producer = make()
        asked = DescribeTransactionsRequest([producer.id, "", "none-0", producer.id])
        found = producer.client.ask(asked, 0, DescribeTransactionsResponse).transaction_states

        here = [(NONE, producer.id, "Empty", producer.producer_id, -1)]
        refused = [(REFUSED, "", "", 0, 0)]
        told = [
            (each.error_code, each.transactional_id, each.transaction_state, each.producer_id, each.transaction_start_time_ms)
            for each in found
        ]
        assert told[:2] + told[3:] == here + refused + here
        assert told[2][0] in (ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, ErrorCode.NOT_COORDINATOR)

    def test_all_loops_list_theirs(self, server: Server, make_there: Make) -> None:
        for each in IDS:
            make_there(each)
        make_there(IDS[1]).add({"orders": [0]})

        states = dict.fromkeys(IDS, "Empty") | {IDS[1]: "Ongoing"}
        for version in range(3):
            assert listed(server, version) == ({NONE}, [], states)
        assert listed(server, state_filters=["Ongoing", "Odd", "Odd"]) == ({NONE}, ["Odd"], {IDS[1]: "Ongoing"})
        assert listed(server, state_filters=["Odd"]) == ({NONE}, ["Odd"], {})

    def test_filters(self, server: Server, make_there: Make) -> None:
        """An id without a transaction counts as one that has run since 1970, as in Kafka."""
        open_one, other = make_there(IDS[0]), make_there(IDS[1])
        open_one.add({"orders": [0]})

        assert listed(server, producer_id_filters=[other.producer_id])[2] == {IDS[1]: "Empty"}
        assert listed(server, 1, duration_filter=100_000)[2] == {IDS[1]: "Empty"}
        assert listed(server, 1, duration_filter=0)[2].keys() >= {IDS[1]}
        assert listed(server, transactional_id_pattern="producer-[1-9]")[2] == {IDS[1]: "Empty"}
        assert listed(server, transactional_id_pattern="producer")[2] == {}
        assert listed(server, transactional_id_pattern="")[2].keys() == set(IDS[:2])
        for wrong in ("(", "a(?=b)"):
            assert listed(server, transactional_id_pattern=wrong) == ({ErrorCode.INVALID_REGULAR_EXPRESSION}, [], {})


class TestRestarts:
    def test_what_was_answered_survives_kill_9(self, server: Server, make_there: Make) -> None:
        """Open transactions stay open, decided ones end, and no producer id is given twice."""
        committed, kept = make_there(IDS[0]), make_there(IDS[1])
        kept.add({"orders": [0]})
        committed.add_offsets("group")
        assert committed.end().error == NONE
        server.kill()
        server.start()

        with Producer(server.address, IDS[0]) as again:
            again.producer_id, again.epoch = committed.producer_id, committed.epoch
            again.init()
            assert again.until("Empty").producer_epoch == committed.epoch + 1
        with Producer(server.address, IDS[1]) as again:
            while again.described().error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                time.sleep(0.01)
            assert again.described().transaction_state == "Ongoing"
            again.producer_id, again.epoch = kept.producer_id, kept.epoch
            assert again.end().epoch == kept.epoch + 1
        with Producer(server.address, IDS[2]) as new:
            assert new.init().producer_id not in (committed.producer_id, kept.producer_id)

    def test_producers_at_once_get_different_ids(self, server: Server) -> None:
        def ids(number: int) -> int:
            with Producer(server.address, f"many-{number}") as producer:
                return producer.init().producer_id

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(ids, range(60)))

        assert len(set(found)) == 60


def test_while_loop_0_is_stopped_producers_are_to_ask_again(tmp_path: Path) -> None:
    """The other loop has no ids, and is given none. Then both give different ones."""

    def asked(address: tuple[str, int]) -> tuple[ErrorCode, int]:
        with Client(address) as client:
            answer = client.ask(InitProducerIdRequest(None), 5, InitProducerIdResponse)
        return ErrorCode(answer.error_code), answer.producer_id

    with Server(tmp_path, loops=2) as server:
        mine = next(each for each in IDS if partition_for(each, 50) % 2 == 1)
        controller, other = server.addresses
        pid = server.loop_pids()[0]
        os.kill(pid, signal.SIGSTOP)
        try:
            answers = []
            for _ in range(20):
                answers.append(asked(other)[0])
                time.sleep(0.02)
        finally:
            os.kill(pid, signal.SIGCONT)

        assert set(answers) == {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
        eventually(lambda: asked(other)[0] == NONE)
        eventually(lambda: asked(controller)[0] == NONE)
        with Producer(server.address, mine) as producer:
            ids = [producer.init().producer_id, *(asked(address)[1] for address in (controller, other) * 3)]
        assert len(set(ids)) == 7
