"""The connections of a listener: how many there are, and when one that is idle is closed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.config import Config
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from coordinator_server.server.apis.groups import HEARTBEAT_API, JOIN_GROUP_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.wire.acceptor import SocketAcceptor
from coordinator_server.server.wire.admission import Admission, Limits
from coordinator_server.server.wire.background import Background
from coordinator_server.server.wire.connection import Connection
from coordinator_server.server.wire.episodes import EPISODE_MS, Episodes
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.listener import CONNECTIONS_PER_STEP, LONGEST_SWEEP_MS, Listener, ListenerServices
from coordinator_server.server.wire.turns import Turns
from coordinator_server.worker import ThreadWorker
from protocol.frames import encode_request
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest
from tests.support.clock import ManualClock
from tests.support.configs import config_with
from tests.support.transport import MemoryTransport

JOIN_GROUP, HEARTBEAT = 11, 12
IDLE_MS = 60_000
STALLED_MS = 6_000
SWEEP_MS = 1_000


class Transport(MemoryTransport):
    """Ends its connection at once."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self.unsent = 0

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def abort(self) -> None:
        self.is_closed = True
        self._connection.connection_lost(None)


class Place:
    """A listener whose time is moved by hand. Its heartbeats are parked."""

    def __init__(self, config: Config, limits: Limits) -> None:
        self.clock = ManualClock()
        self.queue = TimerQueue()
        self.parked: list[Exchange[Any]] = []
        self.loop = asyncio.new_event_loop()
        background, turns = Background(ThreadWorker(lambda: None), self._run_now), Turns(self._run_now)
        timers = ShardTimers(self.queue, self.clock, self._fire)
        services = ListenerServices(self.clock, timers, SocketAcceptor, limits, Incidents(Episodes(self.clock.now_ms)))
        apis = [serve_row(HEARTBEAT_API, self._park), serve_row(JOIN_GROUP_API, self._park)]
        dispatch = Dispatcher(apis, background)
        self.listener = Listener(self.loop, config, turns, background, services)
        self.listener.serve(dispatch, {})

    def _fire(self, timer: Timer) -> None:
        timer.operation()

    def _park(self, context: RequestContext, request: Any, reply: Exchange[Any]) -> None:
        self.parked.append(reply)

    def _run_now(self, call: Callable[[], None]) -> None:
        call()

    def connect(self, host: str = "192.0.2.1") -> tuple[Connection, Transport] | None:
        connection = self.listener.admit(host)
        if connection is None:
            return None
        transport = Transport(connection)
        connection.connection_made(transport)
        return connection, transport

    def opened(self) -> tuple[Connection, Transport]:
        found = self.connect()
        assert found is not None
        return found

    def advance(self, ms: int) -> None:
        for _ in range(ms // SWEEP_MS):
            self.clock.advance(SWEEP_MS)
            self.queue.run(self.clock.now_ms())


@pytest.fixture
def place() -> Iterator[Place]:
    place = Place(config_with(connections_max_idle_ms=IDLE_MS, socket_request_stalled_after_ms=STALLED_MS), Limits(connections=2))
    yield place
    place.loop.close()


def heartbeat() -> bytes:
    return encode_request(HEARTBEAT, 4, 7, "client", HeartbeatRequest("group", 1, "member"))


def test_a_connection_that_ends_makes_room(place: Place) -> None:
    (_, first), _ = place.opened(), place.opened()
    assert place.connect() is None
    first.abort()

    assert place.connect() is not None
    assert place.listener.incidents.counts == {"connection-limit-reached": 1}


def test_a_connection_without_a_byte_is_closed_when_it_is_idle(place: Place) -> None:
    _, transport = place.opened()
    place.advance(IDLE_MS)
    was_closed = transport.is_closed
    place.advance(2 * SWEEP_MS)

    assert (was_closed, transport.is_closed) == (False, True)
    assert place.listener.incidents.counts == {"connection-idle": 1}


def test_an_idle_time_that_is_changed_begins_anew(place: Place) -> None:
    """For open connections, and also if there was none before. Half a request is stalled after the same time as ever."""
    (_, transport), (half, half_transport) = place.opened(), place.opened()
    half.data_received(heartbeat()[:10])
    place.listener.close_idle(-1)
    place.advance(STALLED_MS + 2 * LONGEST_SWEEP_MS)
    assert half_transport.is_closed
    place.advance(2 * IDLE_MS)
    place.listener.close_idle(IDLE_MS // 2)
    place.advance(IDLE_MS // 2)
    was_closed = transport.is_closed
    place.advance(LONGEST_SWEEP_MS + 2 * SWEEP_MS)

    assert (was_closed, transport.is_closed) == (False, True)


def test_many_connections_are_looked_at_in_steps() -> None:
    place = Place(config_with(connections_max_idle_ms=IDLE_MS), Limits())
    opened = [place.opened() for _ in range(2 * CONNECTIONS_PER_STEP + 1)]
    for connection, _ in opened[::2]:
        connection.data_received(heartbeat())
    place.advance(IDLE_MS // 2)
    for connection, _ in opened[::2]:
        connection.data_received(heartbeat())
    place.advance(IDLE_MS // 2 + 10 * SWEEP_MS)
    place.loop.close()

    assert [transport.is_closed for _, transport in opened] == [place % 2 == 1 for place in range(len(opened))]


def test_a_request_that_waits_does_not_keep_its_connection_open(place: Place) -> None:
    """As in Kafka: only bytes count."""
    connection, transport = place.opened()
    connection.data_received(heartbeat())
    place.advance(IDLE_MS + 2 * SWEEP_MS)

    assert len(place.parked) == 1
    assert transport.is_closed


def test_bytes_of_either_side_keep_a_connection_open(place: Place) -> None:
    connection, transport = place.opened()
    connection.data_received(heartbeat())
    place.advance(IDLE_MS - SWEEP_MS)
    place.parked[0].complete(HeartbeatResponse())
    connection.write()
    place.advance(IDLE_MS - SWEEP_MS)
    assert not transport.is_closed
    connection.data_received(heartbeat()[:1])
    place.advance(SWEEP_MS)

    assert not transport.is_closed


def test_a_peer_that_reads_slowly_is_not_idle(place: Place) -> None:
    connection, transport = place.opened()
    transport.unsent = 1 << 20
    connection.pause_writing()
    for _ in range(5):
        place.advance(IDLE_MS - SWEEP_MS)
        transport.unsent -= 1000
        place.advance(SWEEP_MS)
    was_closed = transport.is_closed
    place.advance(IDLE_MS + 2 * SWEEP_MS)

    assert (was_closed, transport.is_closed) == (False, True)


@pytest.mark.parametrize(
    ("reason", "asked"),
    [
        ("WRONG_VERSION_NUMBER", "this listener wants TLS"),
        ("HTTP_REQUEST", "this listener wants TLS"),
        ("TLSV1_ALERT_UNKNOWN_CA", "trust this certificate"),
    ],
)
def test_a_failed_handshake_asks_what_the_client_lacks(place: Place, reason: str, asked: str) -> None:
    why = ssl.SSLError()
    why.reason = reason
    connection, _ = place.opened()
    with capture_logs() as lines:
        place.listener.lost(connection, why)

    assert [(line["event"], asked in line["action"]) for line in lines] == [("tls-handshake-failed", True)]


def test_half_a_request_without_progress_ends_its_connection(place: Place) -> None:
    (stalled, stalled_transport), (slow, slow_transport) = place.opened(), place.opened()
    request = heartbeat()
    stalled.data_received(request[:10])
    slow.data_received(request[:3])
    for byte in request[3:-1]:
        place.advance(SWEEP_MS)
        slow.data_received(bytes([byte]))
    slow.data_received(request[-1:])
    place.advance(STALLED_MS + 2 * SWEEP_MS)

    assert (stalled_transport.is_closed, slow_transport.is_closed) == (True, False)
    assert len(place.parked) == 1
    assert place.listener.incidents.counts == {"request-stalled": 1}


def test_peers_that_send_nonsense_are_counted_and_take_one_line(place: Place) -> None:
    with capture_logs() as lines:
        for _ in range(100):
            connection, transport = place.opened()
            connection.data_received(b"GET / HTTP/1.1")
            assert transport.is_closed
            transport.abort()

    assert [line["event"] for line in lines] == ["connection-refused"]
    assert place.listener.incidents.counts == {"connection-refused": 100}


def test_whole_requests_that_wait_are_bounded_in_all() -> None:
    """Though each arrived in one piece."""
    place = Place(config_with(queued_max_request_bytes=100_000, socket_request_max_bytes=100_000), Limits())
    transports = []
    large = encode_request(HEARTBEAT, 4, 8, "client", HeartbeatRequest("group", 1, "m" * 30_000))
    for _ in range(4):
        connection, transport = place.opened()
        transports.append(transport)
        # The class of a JoinGroup: what follows waits.
        connection.data_received(encode_request(JOIN_GROUP, 3, 7, "client", JoinGroupRequest("group", 1, 1)) + large)
    place.loop.close()

    assert [transport.is_closed for transport in transports] == [True, False, False, False]


def test_half_a_request_goes_with_its_connection(place: Place) -> None:
    """Though a parked request of the connection stays."""
    connection, transport = place.opened()
    connection.data_received(heartbeat())
    connection.data_received((1 << 20).to_bytes(4) + bytes(1000))
    assert connection.unhandled_bytes() == 1004
    transport.abort()

    assert len(place.parked) == 1
    assert connection.unhandled_bytes() == 0


def test_without_connections_no_timer_is_armed(place: Place) -> None:
    _, transport = place.opened()
    transport.abort()
    place.advance(10 * SWEEP_MS)

    assert len(place.queue) == 0


def test_large_requests_in_pieces_are_bounded_in_all() -> None:
    place = Place(config_with(queued_max_request_bytes=1000, socket_request_max_bytes=1000), Limits())
    (first, first_transport), (second, second_transport) = place.opened(), place.opened()
    frame = (900).to_bytes(4) + bytes(900)
    first.data_received(frame[:600])
    second.data_received(frame[:600])
    place.loop.close()

    assert (first_transport.is_closed, second_transport.is_closed) == (True, False)
    assert place.listener.incidents.counts == {"request-shed": 1}


def test_those_that_do_not_log_in_have_a_part_of_the_bound() -> None:
    """Of which the largest login always fits."""
    config = config_with(queued_max_request_bytes=80_000, socket_request_max_bytes=80_000, sasl_server_max_receive_size=1000)
    place = Place(config, Limits())
    opened = [place.opened() for _ in range(3)]
    for connection, _ in opened[1:]:
        connection.login = connection.dispatch
    frame = (70_000).to_bytes(4) + bytes(70_000)
    for (connection, _), size in zip(opened, (60_000, 6_000, 6_000), strict=True):
        connection.data_received(frame[:size])
    place.loop.close()

    assert [transport.is_closed for _, transport in opened] == [False, True, False]
    assert place.listener.incidents.counts == {"login-shed": 1}


def test_what_goes_on_takes_a_line_a_minute(place: Place) -> None:
    """Also when no connection is left to be looked at."""
    with capture_logs() as lines:
        for _ in range(3):
            connection, transport = place.opened()
            connection.data_received(b"GET / HTTP/1.1")
            transport.abort()
        place.advance(EPISODE_MS + 2 * SWEEP_MS)

    assert [(line["event"], line.get("more"), line.get("in_all")) for line in lines] == [
        ("connection-refused", None, None),
        ("connection-refused", 2, 3),
    ]


def test_an_entrance_has_limits_beside_those_of_the_loop(place: Place) -> None:
    """A connection counts for both, and for none once it has ended or was refused by one of them."""
    own = Admission(Limits(connections=1), place.listener.incidents, place.clock.now_ms)
    first = place.listener.admit("192.0.2.1", own)
    assert first is not None
    assert place.listener.admit("192.0.2.1", own) is None
    assert place.connect() is not None
    first.connection_lost(None)
    assert own.connections == 0
    again = place.listener.admit("192.0.2.1", own)
    assert again is not None
    again.connection_lost(None)
    assert place.connect() is not None

    assert place.listener.admit("192.0.2.1", own) is None
    assert own.connections == 0


def test_connections_that_come_all_the_time_do_not_delay_the_sweep() -> None:
    place = Place(
        config_with(connections_max_idle_ms=IDLE_MS, socket_request_stalled_after_ms=STALLED_MS), Limits(connections=1000)
    )
    _, transport = place.opened()
    for _ in range(2 * (IDLE_MS + 2 * SWEEP_MS) // SWEEP_MS):
        place.clock.advance(SWEEP_MS // 2)
        place.queue.run(place.clock.now_ms())
        place.opened()
    place.loop.close()

    assert transport.is_closed
