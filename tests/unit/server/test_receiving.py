"""Half-received requests are bounded over all connections, in bytes and in time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.server.incidents import Incidents
from coordinator_server.server.receiving import RECOUNT_BYTES, Receiving
from tests.support.clock import ManualClock

STALLED_SWEEPS = 3


class Peer:
    """A connection that sends large requests."""

    def __init__(self, receiving: Receiving) -> None:
        self.peer = "192.0.2.1:5000"
        self.is_reading = True
        self.partial = 0
        self.waiting = 0
        self.is_aborted = False
        self._receiving = receiving

    @property
    def is_mid_request(self) -> bool:
        return self.partial > 0

    @property
    def has_waiting(self) -> bool:
        return self.waiting > 0

    def unhandled_bytes(self) -> int:
        return self.partial + self.waiting

    def abort(self) -> None:
        self.is_aborted = True

    def read(self, size: int) -> bool:
        self.partial += size
        return self._receiving.received(self, self.partial, size)

    def end(self) -> None:
        """What it has received goes with it."""
        self.partial = self.waiting = 0
        self._receiving.ended(self)

    def complete(self, *, waits: bool) -> bool:
        """The last piece of a request, which may have to wait."""
        self.partial, self.waiting = 0, self.waiting + self.partial if waits else 0
        return self._receiving.received(self, 0, 1)


def made(max_bytes: int | None) -> tuple[Receiving, Incidents]:
    incidents = Incidents(ManualClock().now_ms)
    return Receiving(max_bytes, STALLED_SWEEPS, incidents), incidents


def test_a_request_that_is_handled_at_once_is_no_longer_counted() -> None:
    receiving, _ = made(1000)
    peer = Peer(receiving)

    assert peer.read(600)
    assert peer.read(300)
    assert receiving.bytes == 900
    assert not peer.complete(waits=False)
    assert receiving.bytes == 0


def test_beyond_the_bound_the_connection_without_progress_for_the_longest_time_is_closed() -> None:
    receiving, incidents = made(1000)
    first, second, third = (Peer(receiving) for _ in range(3))
    for peer in (first, second, third):
        peer.read(300)
    first.read(10)
    third.read(200)

    assert [peer.is_aborted for peer in (first, second, third)] == [False, True, False]
    assert receiving.bytes == 810
    assert incidents.counts == {"request-shed": 1}


def test_connections_that_hold_little_are_not_closed_for_those_that_hold_much() -> None:
    receiving, incidents = made(1000)
    small, first, second = Peer(receiving), Peer(receiving), Peer(receiving)
    small.read(10)
    first.read(500)
    second.read(500)

    assert [peer.is_aborted for peer in (small, first, second)] == [False, True, False]
    assert incidents.counts == {"request-shed": 1}


def test_one_connection_beyond_the_bound_is_closed_itself() -> None:
    receiving, _ = made(1000)
    peer = Peer(receiving)
    peer.read(1001)

    assert peer.is_aborted
    assert receiving.bytes == 0


def test_whole_requests_that_wait_count() -> None:
    """Behind a JoinGroup that is parked, say."""
    receiving, _ = made(1000)
    waiting, other = Peer(receiving), Peer(receiving)
    waiting.read(900)
    assert waiting.complete(waits=True)
    other.read(101)

    assert (waiting.is_aborted, other.is_aborted) == (True, False)


def test_requests_that_have_been_handled_since_do_not_cost_anybody_a_connection() -> None:
    receiving, incidents = made(1000)
    handled, slow, other = (Peer(receiving) for _ in range(3))
    slow.read(1)
    handled.read(900)
    handled.complete(waits=True)
    handled.waiting = 0
    other.read(900)

    assert incidents.counts == {}
    assert receiving.bytes == 901


def test_what_a_busy_connection_has_sent_since_long_ago_does_not_add_up() -> None:
    """Requests wait all the time, and others have been handled."""
    receiving, incidents = made(4 * RECOUNT_BYTES)
    peer = Peer(receiving)
    peer.read(100)
    for _ in range(1000):
        peer.waiting = 5000
        receiving.received(peer, peer.partial, 1000)

    assert receiving.bytes < 2 * RECOUNT_BYTES
    assert incidents.counts == {}


def test_a_peer_that_stops_in_the_middle_of_a_request_is_closed() -> None:
    receiving, incidents = made(None)
    stalled, slow = Peer(receiving), Peer(receiving)
    stalled.read(5)
    for _ in range(STALLED_SWEEPS):
        slow.read(1)
        receiving.sweep()
    assert not stalled.is_aborted
    receiving.sweep()

    assert (stalled.is_aborted, slow.is_aborted) == (True, False)
    assert receiving.bytes == slow.partial
    assert incidents.counts == {"request-stalled": 1}


def test_a_peer_that_waits_for_the_server_is_not_stalled() -> None:
    """The server does not read, or its request has arrived and waits."""
    receiving, _ = made(None)
    unread, waiting = Peer(receiving), Peer(receiving)
    unread.read(5)
    unread.is_reading = False
    waiting.read(5)
    waiting.complete(waits=True)
    for _ in range(10):
        receiving.sweep()
    unread.is_reading = True
    for _ in range(STALLED_SWEEPS):
        receiving.sweep()

    assert not unread.is_aborted
    assert not waiting.is_aborted


def test_a_connection_that_has_ended_is_forgotten() -> None:
    receiving, _ = made(1000)
    peer = Peer(receiving)
    peer.read(500)
    peer.end()
    peer.end()

    assert receiving.bytes == 0


def test_a_request_that_goes_on_when_its_connection_has_ended_counts_until_it_is_handled() -> None:
    receiving, _ = made(1000)
    gone, other = Peer(receiving), Peer(receiving)
    gone.read(500)
    gone.complete(waits=True)
    receiving.ended(gone)
    assert receiving.bytes == 500
    gone.waiting = 0
    receiving.sweep()
    other.read(1)

    assert receiving.bytes == 1


ACTIONS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["read", "wait", "run", "handle", "end"]), st.integers(1, 700)))


@given(ACTIONS)
def test_the_bound_holds_whatever_peers_do(actions: list[tuple[int, str, int]]) -> None:
    """What is counted is never less than what connections hold, and nothing stays counted when all have ended."""
    receiving, _ = made(1000)
    peers = [Peer(receiving) for _ in range(6)]
    for place, action, size in actions:
        peer = peers[place]
        if peer.is_aborted:
            peer = peers[place] = Peer(receiving)
        match action:
            case "read":
                peer.read(size)
            case "wait" | "run" if peer.partial:
                peer.complete(waits=action == "wait")
            case "handle":
                peer.waiting = 0
            case "end":
                peer.end()
                peers[place] = Peer(receiving)
            case _:
                receiving.sweep()

        assert sum(each.unhandled_bytes() for each in peers if not each.is_aborted) <= receiving.bytes <= 1000
    for peer in peers:
        peer.end()

    assert receiving.bytes == 0
