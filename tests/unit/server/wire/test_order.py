"""A connection's requests act in Kafka's order: which of them start before an earlier one is answered, and which are held back."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.table import ROWS
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.wire.connection import HELD_MAX_BYTES, Limits
from coordinator_server.server.wire.order import Order, State
from protocol.api import APIS, Api
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.frames import encode_request
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTransaction
from protocol.messages.end_txn import EndTxnRequest
from protocol.messages.init_producer_id import InitProducerIdRequest
from protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from tests.support.api_requests import request_of
from tests.support.turns import ManualLoop

NAMES = [APIS[row.request.kafka.key].name for row in ROWS if row.request.kafka.key is not None]
ORDER = {APIS[row.request.kafka.key].name: row.order for row in ROWS if row.request.kafka.key is not None}
API = {api.name: api for api in APIS.values()}
MAX_FRAME_BYTES = 1 << 20
MAX_WAITING = 100


def _version(api: Api) -> int:
    return max(api.min_version, min(api.max_version, 5))


TOUCHED = {
    name: row.touches(request_of(name, _version(API[name])))
    for row, name in ((row, APIS[row.request.kafka.key].name) for row in ROWS if row.request.kafka.key is not None)
    if row.touches is not None
}
"""What the requests of ``Peer.send`` touch."""


class Peer:
    """A client on one connection to a server that answers nothing by itself."""

    def __init__(self) -> None:
        self.started: list[Exchange[Any]] = []
        self._loop = ManualLoop()
        self._sent = 0
        apis = [serve_row(row, partial(self._park)) for row in ROWS]
        limits = Limits(MAX_FRAME_BYTES, MAX_WAITING)
        self.connection, self.transport = self._loop.connect(Dispatcher(apis, self._loop.background), limits)

    def _park(self, context: RequestContext, request: Any, reply: Exchange[Any]) -> None:
        self.started.append(reply)

    def send(self, *names: str) -> None:
        """One of each API, all in one segment."""
        self.send_requests(*[request_of(name, _version(API[name])) for name in names])

    def send_requests(self, *requests: Message) -> None:
        """All in one segment."""
        frames = []
        for request in requests:
            api = API[type(request).__name__.removesuffix("Request")]
            self._sent += 1
            frames.append(encode_request(api.key, _version(api), self._sent, "client", request))
        self.connection.data_received(b"".join(frames))

    def answer(self, place: int) -> None:
        """Answer one that has started; the turn of the loop ends then."""
        self.started[place].fail(ErrorCode.NOT_COORDINATOR)
        self._loop.turn()

    @property
    def names(self) -> list[str]:
        return [reply.row.name for reply in self.started]


@pytest.fixture
def peer() -> Peer:
    return Peer()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("OffsetCommit", "OffsetCommit"),
        ("OffsetCommit", "Heartbeat"),
        ("OffsetDelete", "OffsetCommit"),
        ("OffsetFetch", "Metadata"),
        ("ApiVersions", "JoinGroup"),
        ("JoinGroup", "ApiVersions"),
        # A READ that can see what is being written.
        ("OffsetCommit", "OffsetFetch"),
        # Kafka would wait here, and keep a member that has gone.
        ("JoinGroup", "LeaveGroup"),
        ("SyncGroup", "LeaveGroup"),
    ],
)
def test_requests_that_start_before_others_are_answered(peer: Peer, first: str, second: str) -> None:
    """Where it makes no difference whether the first has been answered."""
    peer.send(first, second)

    assert peer.names == [first, second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("OffsetCommit", "DescribeGroups"),
        ("OffsetCommit", "DeleteGroups"),
        ("OffsetFetch", "OffsetCommit"),
        ("Heartbeat", "JoinGroup"),
        ("JoinGroup", "Heartbeat"),
        ("JoinGroup", "JoinGroup"),
        ("JoinGroup", "OffsetFetch"),
        ("LeaveGroup", "JoinGroup"),
        ("DeleteGroups", "OffsetFetch"),
        ("DeleteGroups", "ListGroups"),
        ("CreateTopics", "Metadata"),
        ("CreateTopics", "CreateTopics"),
    ],
)
def test_a_request_waits_for_the_answer_to_one_that_it_may_not_overtake(peer: Peer, first: str, second: str) -> None:
    """And starts in the turn in which it is given."""
    peer.send(first, second)
    before = peer.names
    peer.answer(0)

    assert (before, peer.names) == ([first], [first, second])


def test_a_fetch_behind_commits_sees_them_and_commits_behind_it_go_on(peer: Peer) -> None:
    """So that a pipeline of both needs no more syncs than one of commits."""
    peer.send("OffsetFetch")
    peer.answer(0)
    peer.send("OffsetCommit", "OffsetFetch", "OffsetCommit", "OffsetFetch")

    assert [reply.is_behind_writes for reply in peer.started] == [False, False, True, False, True]


def test_a_fetch_behind_one_of_the_latest_offsets_reads_them_too(peer: Peer) -> None:
    """A later read must not see less than an earlier one, which may read what is not durable (``require_stable``)."""
    peer.send("OffsetFetch")
    peer.started[0].read_latest()
    peer.send("OffsetFetch", "OffsetFetch", "OffsetCommit")

    assert [reply.is_behind_writes for reply in peer.started] == [True, True, True]


def test_no_other_read_starts_behind_a_fetch_of_the_latest_offsets(peer: Peer) -> None:
    """It could read older state."""
    peer.send("OffsetFetch")
    peer.started[0].read_latest()
    peer.send("ListGroups")
    before = peer.names
    peer.answer(0)

    assert (before, peer.names) == (["OffsetFetch"], ["OffsetFetch", "ListGroups"])


def test_what_a_handler_frees_delays_nothing(peer: Peer) -> None:
    """A Fetch of topics without records waits for time alone."""
    peer.send("Fetch")
    peer.started[0].is_free = True
    peer.send("OffsetCommit", "OffsetFetch")

    assert peer.names == ["Fetch", "OffsetCommit", "OffsetFetch"]


def test_one_that_overtook_a_join_does_not_open_the_way_for_others(peer: Peer) -> None:
    peer.send("JoinGroup", "LeaveGroup", "Heartbeat", "OffsetCommit")
    before = peer.names
    peer.answer(0)

    assert (before, peer.names) == (["JoinGroup", "LeaveGroup"], ["JoinGroup", "LeaveGroup", "Heartbeat", "OffsetCommit"])


def test_it_starts_though_an_earlier_answer_is_still_missing_in_the_order(peer: Peer) -> None:
    """It depends on what has been answered, not on what has been written."""
    peer.send("ApiVersions", "JoinGroup", "Heartbeat")
    peer.answer(1)

    assert peer.names == ["ApiVersions", "JoinGroup", "Heartbeat"]
    assert peer.transport.writes == []


def test_the_end_of_the_connection_is_noticed_meanwhile(peer: Peer) -> None:
    """Its socket is read on, up to a limit."""
    peer.send("JoinGroup", "Heartbeat")
    peer.send("Heartbeat")
    is_read = not peer.transport.is_reading_paused
    peer.connection.data_received(bytes(HELD_MAX_BYTES))
    is_read_on = not peer.transport.is_reading_paused
    peer.connection.connection_lost(None)
    peer.answer(0)

    assert (is_read, is_read_on, peer.names) == (True, False, ["JoinGroup"])


def init(transactional_id: str, producer_id: int = -1) -> Message:
    return InitProducerIdRequest(transactional_id, 60_000, producer_id, producer_id)


def commit(transactional_id: str, producer_id: int, group_id: str) -> Message:
    return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, 0)


def add(*ids: tuple[str, int]) -> Message:
    return AddPartitionsToTxnRequest([AddPartitionsToTxnTransaction(each, producer_id, 0) for each, producer_id in ids])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (init("a"), init("b")),
        (init("a"), EndTxnRequest("b", 2, 0)),
        (AddOffsetsToTxnRequest("a", 1, 0, "g"), AddOffsetsToTxnRequest("b", 2, 0, "g")),
        (commit("a", 1, "g"), commit("b", 2, "h")),
        (commit("a", 1, "g"), EndTxnRequest("b", 2, 0)),
        (add(("a", 1), ("b", 2)), add(("c", 3))),
    ],
)
def test_transactions_of_different_producers_overlap(peer: Peer, first: Message, second: Message) -> None:
    """As those of two connections do."""
    peer.send_requests(first, second)

    assert len(peer.started) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (init("a"), init("a")),
        (init("a", 1), commit("b", 1, "g")),
        (EndTxnRequest("a", 1, 0), init("a")),
        # The last commit of an offset counts, whichever transaction ends first.
        (commit("a", 1, "g"), commit("b", 2, "g")),
        # A group's log knows a transaction by its producer alone.
        (commit("a", 1, "g"), EndTxnRequest("b", 1, 0)),
        (add(("a", 1), ("b", 2)), add(("c", 3), ("b", 2))),
    ],
)
def test_a_transaction_waits_for_what_touches_the_same(peer: Peer, first: Message, second: Message) -> None:
    peer.send_requests(first, second)
    before = len(peer.started)
    peer.answer(0)

    assert (before, len(peer.started)) == (1, 2)


def test_a_third_transaction_waits_for_all_before_it(peer: Peer) -> None:
    """Also if it could overlap with the last one."""
    peer.send_requests(init("a"), init("b"), init("a"))
    peer.answer(1)
    before = len(peer.started)
    peer.answer(0)

    assert (before, len(peer.started)) == (2, 3)


def test_others_wait_for_transactions_and_transactions_for_others(peer: Peer) -> None:
    peer.send_requests(init("a"))
    peer.send("OffsetFetch")
    peer.send_requests(init("b"))
    started = [peer.names]
    for place in range(2):
        peer.answer(place)
        started.append(peer.names)

    assert [len(each) for each in started] == [1, 2, 3]


@given(st.lists(st.one_of(st.sampled_from(sorted({"JoinGroup", "LeaveGroup", *NAMES})), st.integers(0, 20)), max_size=40))
def test_requests_of_a_connection_start_in_order(steps: list[str | int]) -> None:
    """Whatever is sent and answered when: each starts only where the rule lets it, all start in the end, in their order."""
    peer, sent = Peer(), []
    open_before: list[tuple[str, list[str]]] = []

    def looked() -> None:
        for place in range(len(open_before), len(peer.started)):
            left = [
                each.row.name + "*" * each.is_behind_writes for each in peer.started[:place] if each.state is not State.ANSWERED
            ]
            open_before.append((peer.started[place].row.name, left))

    for step in steps:
        if isinstance(step, str):
            sent.append(step)
            peer.send(step)
        else:
            unanswered = [place for place, reply in enumerate(peer.started) if reply.state is not State.ANSWERED]
            if unanswered:
                peer.answer(unanswered[step % len(unanswered)])
        looked()
    while unanswered := [place for place, reply in enumerate(peer.started) if reply.state is not State.ANSWERED]:
        peer.answer(unanswered[0])
        looked()

    assert peer.names == sent
    assert [name for name, left in open_before if not may_start(name, left)] == []


def may_start(name: str, unanswered: list[str]) -> bool:
    """The rule of ``order.py``. A star is at those that are behind writes, and so as good as a WRITE."""
    left = [each for each in unanswered if ORDER[each.rstrip("*")] is not Order.FREE]
    orders = {ORDER.get(each, Order.WRITE) for each in left}
    plain = {ORDER[each.rstrip("*")] for each in left}
    return (
        ORDER[name] is Order.FREE
        or not left
        or (ORDER[name] is not Order.ALONE and {ORDER[name]} in (orders, plain))
        or (name == "OffsetFetch" and orders == {Order.WRITE})
        or (name == "LeaveGroup" and set(left) <= {"JoinGroup", "SyncGroup"})
        or (name in TOUCHED and set(left) <= TOUCHED.keys() and all(TOUCHED[name].isdisjoint(TOUCHED[each]) for each in left))
    )
