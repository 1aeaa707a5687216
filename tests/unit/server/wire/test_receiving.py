"""Half-received requests are bounded over all connections, in bytes and in time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.server.wire.episodes import Episodes
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.receiving import RECOUNT_BYTES, Bounds, Receiving
from tests.support.clock import ManualClock

STALLED_SWEEPS = 3
# The bytes of those whose login is not done.
STRANGERS = 400


class Peer:
    """A connection that sends large requests: of a client of a listener without login, of one that logs in,
    or that has logged in.
    """

    def __init__(self, receiving: Receiving, *, is_stranger: bool = False, is_known: bool = False) -> None:
        self.peer = "192.0.2.1:5000"
        self.is_stranger = is_stranger
        self.is_known = is_known
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

    @property
    def is_owed(self) -> bool:
        return self.is_known and (self.has_waiting or not self.is_reading)

    def unhandled_bytes(self) -> int:
        return self.partial + self.waiting

    def hold_back(self) -> None:
        self.is_reading = False

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
    incidents = Incidents(Episodes(ManualClock().now_ms))
    return Receiving(None if max_bytes is None else Bounds(max_bytes, STRANGERS), STALLED_SWEEPS, incidents), incidents


def test_a_request_that_is_handled_at_once_is_no_longer_counted() -> None:
    receiving, _ = made(1000)
    peer = Peer(receiving)

    assert peer.read(600)
    assert peer.read(300)
    assert receiving.bytes == 900
    assert not peer.complete(waits=False)
    assert receiving.bytes == 0


def test_beyond_the_bound_the_connection_with_the_most_bytes_is_closed() -> None:
    receiving, incidents = made(1000)
    first, second, third = (Peer(receiving) for _ in range(3))
    for peer, size in ((first, 300), (second, 400), (third, 300), (first, 1)):
        peer.read(size)

    assert [peer.is_aborted for peer in (first, second, third)] == [False, True, False]
    assert receiving.bytes == 601
    assert incidents.counts == {"request-shed": 1}


def test_of_those_with_as_many_bytes_the_one_without_progress_for_the_longest_time_is_closed() -> None:
    receiving, _ = made(1000)
    first, second, third = (Peer(receiving) for _ in range(3))
    for peer, size in ((first, 300), (second, 400), (first, 100), (third, 400)):
        peer.read(size)

    assert [peer.is_aborted for peer in (first, second, third)] == [False, True, False]


def test_while_there_is_room_a_connection_may_hold_all_of_it() -> None:
    receiving, incidents = made(1000)
    peer, stranger = Peer(receiving), Peer(receiving, is_stranger=True)
    stranger.read(STRANGERS)
    peer.read(1000 - STRANGERS)

    assert not peer.is_aborted
    assert not stranger.is_aborted
    assert incidents.counts == {}


def test_those_that_do_not_log_in_have_a_part_for_themselves() -> None:
    """Many of them, a byte at a time, close nobody else's request."""
    receiving, incidents = made(1000)
    client = Peer(receiving, is_known=True)
    client.read(590)
    strangers = [Peer(receiving, is_stranger=True) for _ in range(30)]
    for _ in range(20):
        for stranger in strangers:
            if not stranger.is_aborted:
                stranger.read(1)
    client.read(10)

    assert not client.is_aborted
    assert sum(stranger.is_aborted for stranger in strangers) > 5
    assert receiving.bytes_of_strangers <= STRANGERS
    assert incidents.counts.keys() == {"login-shed"}


def test_a_small_login_goes_on_beside_large_ones() -> None:
    """Those with the most bytes are closed, down to a part of the bound."""
    receiving, incidents = made(1000)
    small = Peer(receiving, is_stranger=True)
    small.read(20)
    large = [Peer(receiving, is_stranger=True) for _ in range(4)]
    for stranger in large:
        stranger.read(100)

    assert [stranger.is_aborted for stranger in (small, *large)] == [False, True, True, False, False]
    assert receiving.bytes_of_strangers == 220
    assert incidents.counts == {"login-shed": 2}


def test_when_all_is_full_those_that_do_not_log_in_go_first() -> None:
    """Though others hold more."""
    receiving, incidents = made(1000)
    stranger, known, other = Peer(receiving, is_stranger=True), Peer(receiving, is_known=True), Peer(receiving)
    for peer, size in ((stranger, 100), (known, 500), (other, 401)):
        peer.read(size)

    assert [peer.is_aborted for peer in (stranger, known, other)] == [True, False, False]
    assert incidents.counts == {"login-shed": 1}


def test_a_login_that_is_done_frees_the_part_of_logins() -> None:
    receiving, _ = made(1000)
    client, stranger = Peer(receiving, is_stranger=True), Peer(receiving, is_stranger=True)
    client.read(STRANGERS)
    client.is_stranger, client.is_known = False, True
    stranger.read(STRANGERS)

    assert not client.is_aborted
    assert not stranger.is_aborted
    assert (receiving.bytes, receiving.bytes_of_strangers) == (2 * STRANGERS, STRANGERS)


def test_an_authenticated_client_that_waits_for_the_server_is_not_closed() -> None:
    """Its request has arrived and waits, or the server does not read it. Who sends less is closed in its place."""
    receiving, incidents = made(1000)
    waiting, unread, other = (Peer(receiving, is_known=True) for _ in range(3))
    waiting.read(500)
    waiting.complete(waits=True)
    unread.read(450)
    unread.is_reading = False
    other.read(60)

    assert [peer.is_aborted for peer in (waiting, unread, other)] == [False, False, True]
    assert incidents.counts == {"request-shed": 1}


def test_if_all_wait_for_the_server_nobody_is_closed_and_nothing_is_read() -> None:
    receiving, incidents = made(1000)
    clients = [Peer(receiving, is_known=True) for _ in range(2)]
    for client in clients:
        client.read(450)
        client.complete(waits=True)
    before = [client.is_reading for client in clients]
    clients[0].read(200)

    assert incidents.counts == {}
    assert (before, [client.is_reading for client in clients]) == ([True, True], [False, False])


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


ACTIONS = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["read", "wait", "run", "handle", "login", "end"]), st.integers(1, 700))
)


@given(ACTIONS)
def test_the_bound_holds_whatever_peers_do(actions: list[tuple[int, str, int]]) -> None:
    """What is counted is never less than what connections hold, and nothing stays counted when all have ended.

    Only those that wait for the server exceed it, by one read of each: then they are not read.
    """
    receiving, _ = made(1000)

    def new(place: int) -> Peer:
        return Peer(receiving, is_stranger=place % 3 == 0, is_known=place % 3 == 1)

    peers = [new(place) for place in range(6)]
    for place, action, size in actions:
        peer = peers[place]
        if peer.is_aborted:
            peer = peers[place] = new(place)
        match action:
            case "read" if peer.is_reading:
                peer.read(size)
            case "wait" | "run" if peer.partial and peer.is_reading:
                peer.complete(waits=action == "wait")
            case "handle":
                peer.waiting, peer.is_reading = 0, True
            case "login" if peer.is_stranger:
                peer.is_stranger, peer.is_known = False, True
            case "end":
                peer.end()
                peers[place] = new(place)
            case _:
                receiving.sweep()

        alive = [each for each in peers if not each.is_aborted]
        owed = sum(each.unhandled_bytes() for each in alive if each.is_owed)
        assert sum(each.unhandled_bytes() for each in alive) <= receiving.bytes <= max(1000, owed + 700)
        assert receiving.bytes_of_strangers <= STRANGERS
    for peer in peers:
        peer.end()

    assert (receiving.bytes, receiving.bytes_of_strangers) == (0, 0)
