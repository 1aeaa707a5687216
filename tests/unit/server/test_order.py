"""A connection's requests act in Kafka's order: which of them start before an earlier one is answered, and which are held back."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.api_row import serve_row
from coordinator_server.server.connection import HELD_MAX_BYTES, Limits
from coordinator_server.server.dispatch import Dispatcher
from coordinator_server.server.order import Order
from coordinator_server.server.reply import PendingReply
from coordinator_server.server.table import ROWS
from protocol.api import APIS
from protocol.error_codes import ErrorCode
from protocol.frames import encode_request
from tests.support.api_requests import request_of
from tests.support.turns import ManualLoop

NAMES = [APIS[row.request.kafka.key].name for row in ROWS if row.request.kafka.key is not None]
ORDER = {APIS[row.request.kafka.key].name: row.order for row in ROWS if row.request.kafka.key is not None}
MAX_FRAME_BYTES = 1 << 20
MAX_WAITING = 100


class Peer:
    """A client on one connection to a server that answers nothing by itself."""

    def __init__(self) -> None:
        self.started: list[PendingReply[Any]] = []
        self._loop = ManualLoop()
        self._sent = 0
        apis = [serve_row(row, partial(self._park)) for row in ROWS]
        limits = Limits(MAX_FRAME_BYTES, MAX_WAITING)
        self.connection, self.transport = self._loop.connect(Dispatcher(apis, self._loop.background), limits)

    def _park(self, context: RequestContext, request: Any, reply: PendingReply[Any]) -> None:
        self.started.append(reply)

    def send(self, *names: str) -> None:
        """All in one segment."""
        frames = []
        for name in names:
            api = next(each for each in APIS.values() if each.name == name)
            version = max(api.min_version, min(api.max_version, 5))
            self._sent += 1
            frames.append(encode_request(api.key, version, self._sent, "client", request_of(name, version)))
        self.connection.data_received(b"".join(frames))

    def answer(self, place: int) -> None:
        """Answer one that has started; the turn of the loop ends then."""
        self.started[place].fail(ErrorCode.NOT_COORDINATOR)
        self._loop.turn()

    @property
    def names(self) -> list[str]:
        return [reply.api.name for reply in self.started]


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
def test_starts_at_once(peer: Peer, first: str, second: str) -> None:
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
def test_waits_for_the_answer(peer: Peer, first: str, second: str) -> None:
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
    peer.connection.read_latest(peer.started[0])
    peer.send("OffsetFetch", "OffsetFetch", "OffsetCommit")

    assert [reply.is_behind_writes for reply in peer.started] == [True, True, True]


def test_no_other_read_starts_behind_a_fetch_of_the_latest_offsets(peer: Peer) -> None:
    """It could read older state."""
    peer.send("OffsetFetch")
    peer.connection.read_latest(peer.started[0])
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


@given(st.lists(st.one_of(st.sampled_from(sorted({"JoinGroup", "LeaveGroup", *NAMES})), st.integers(0, 20)), max_size=40))
def test_the_order_is_kept(steps: list[str | int]) -> None:
    """Whatever is sent and answered when: each starts only where the rule lets it, all start in the end, in their order."""
    peer, sent = Peer(), []
    open_before: list[tuple[str, list[str]]] = []

    def looked() -> None:
        for place in range(len(open_before), len(peer.started)):
            left = [each.api.name + "*" * each.is_behind_writes for each in peer.started[:place] if not each.is_answered]
            open_before.append((peer.started[place].api.name, left))

    for step in steps:
        if isinstance(step, str):
            sent.append(step)
            peer.send(step)
        else:
            unanswered = [place for place, reply in enumerate(peer.started) if not reply.is_answered]
            if unanswered:
                peer.answer(unanswered[step % len(unanswered)])
        looked()
    while unanswered := [place for place, reply in enumerate(peer.started) if not reply.is_answered]:
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
    )
