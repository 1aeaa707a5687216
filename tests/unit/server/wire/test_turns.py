"""Turns, Steps and the quantum of a connection: nobody waits longer than a few steps for what others ask."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.brokers import API_VERSIONS_API
from coordinator_server.server.apis.groups import DESCRIBE_GROUPS_API, HEARTBEAT_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import LARGE_FRAME_BYTES, MAX_HEADER_BYTES, MAX_KNOWN_HEADER_BYTES, Dispatcher
from coordinator_server.server.exchange.exchange import Beside, Exchange
from coordinator_server.server.exchange.steps import MOST_IN_PROGRESS, Steps
from coordinator_server.server.wire.connection import HELD_MAX_BYTES, Connection
from coordinator_server.server.wire.quantum import REQUESTS_PER_PASS
from coordinator_server.server.wire.turns import STEPS_PER_TURN
from protocol.error_codes import ErrorCode
from protocol.frames import FrameSplitter, encode_request
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.transport import MemoryTransport
from tests.support.turns import ManualLoop

Work = Callable[[], Generator[None, None, Any]]


class Server:
    """Heartbeats are answered at once; DescribeGroups is the long work that the test gives."""

    def __init__(self) -> None:
        self.loop = ManualLoop()
        self.steps = Steps(self.loop.turns)
        self.asked: list[Any] = []
        self.work: Work = self.three_steps
        self.done_steps = 0
        apis = [
            serve_row(HEARTBEAT_API, self._heartbeat),
            serve_row(DESCRIBE_GROUPS_API, lambda _context, _request, reply: self.steps.run(reply, self.work())),
            serve_row(API_VERSIONS_API, lambda _context, _request, reply: reply.complete(ApiVersionsResponse())),
        ]
        self.dispatcher = Dispatcher(apis, self.loop.background)

    def _heartbeat(self, context: RequestContext, request: Any, reply: Exchange[Any]) -> None:
        self.asked.append(request)
        reply.complete(HeartbeatResponse())

    def three_steps(self) -> Generator[None, None, DescribeGroupsResponse]:
        for _ in range(3):
            self.done_steps += 1
            yield
        return DescribeGroupsResponse()

    def connect(self) -> Peer:
        return Peer(*self.loop.connect(self.dispatcher))


class Peer:
    def __init__(self, connection: Connection, transport: MemoryTransport) -> None:
        self.connection = connection
        self.transport = transport

    def send(self, *frames: bytes) -> None:
        self.connection.data_received(b"".join(frames))

    @property
    def answers(self) -> list[int]:
        """The correlation ids of what came back."""
        frames = FrameSplitter(1 << 26).feed(b"".join(self.transport.writes))
        return [int.from_bytes(frame[:4], "big") for frame in frames]


def heartbeat(correlation_id: int, group: str = "group", client: str = "client") -> bytes:
    return encode_request(12, 4, correlation_id, client, HeartbeatRequest(group, 1, "member"))


def describe(correlation_id: int, *groups: str) -> bytes:
    return encode_request(15, 5, correlation_id, "client", DescribeGroupsRequest([*groups]))


def api_versions(correlation_id: int) -> bytes:
    return encode_request(18, 3, correlation_id, "client", ApiVersionsRequest("client", "1"))


@pytest.fixture
def server() -> Server:
    return Server()


MANY = 3 * REQUESTS_PER_PASS


def test_a_pass_ends_with_its_quantum_and_the_rest_comes_in_later_turns(server: Server) -> None:
    peer = server.connect()
    peer.send(*map(heartbeat, range(MANY)))
    first = len(server.asked)
    server.loop.turn()
    second = len(server.asked) - first
    server.loop.work()

    assert 0 < first < MANY // 2
    assert 0 < second <= first + 1
    assert peer.answers == list(range(MANY))


def test_a_pass_of_large_requests_ends_earlier(server: Server) -> None:
    peer = server.connect()
    big = "g" * 20_000
    peer.send(*(heartbeat(each, big) for each in range(30)))

    assert len(server.asked) < 20
    server.loop.work()
    assert peer.answers == list(range(30))


def test_who_sends_little_does_not_wait_behind_those_who_send_much(server: Server) -> None:
    hostile = [server.connect() for _ in range(50)]
    for peer in hostile:
        peer.send(*map(heartbeat, range(MANY)))
    before, small = len(server.asked), server.connect()
    small.send(heartbeat(7))

    assert small.answers == [7]
    assert len(server.asked) == before + 1
    # All that one turn does for the others.
    server.loop.turn()
    assert len(server.asked) - before - 1 <= STEPS_PER_TURN * REQUESTS_PER_PASS
    server.loop.work()
    assert all(peer.answers == list(range(MANY)) for peer in hostile)


def test_after_an_expensive_pass_the_next_one_is_a_step_though_nothing_is_left(server: Server) -> None:
    peer = server.connect()
    peer.send(*map(heartbeat, range(REQUESTS_PER_PASS)))
    asked = len(server.asked)
    peer.send(heartbeat(9))

    assert asked == REQUESTS_PER_PASS
    assert len(server.asked) == asked
    server.loop.turn()
    assert len(server.asked) == asked + 1
    # A cheap step makes it an ordinary connection again.
    peer.send(heartbeat(10))
    assert len(server.asked) == asked + 2


def test_what_waits_for_a_step_is_read_up_to_a_bound(server: Server) -> None:
    peer = server.connect()
    peer.send(*map(heartbeat, range(MANY)))
    before = peer.transport.is_reading_paused
    peer.send(b"".join(map(heartbeat, range(2 * HELD_MAX_BYTES // 40))))

    assert (before, peer.transport.is_reading_paused) == (False, True)
    server.loop.work()
    peer.send(heartbeat(1))
    server.loop.work()
    assert peer.answers[-1] == 1


def test_a_large_frame_after_an_expensive_one_is_read_to_its_end(server: Server) -> None:
    """Nothing else would let the reading go on: its first part is nothing that waits."""
    peer = server.connect()
    peer.send(heartbeat(1, "g" * 20_000))
    frame = describe(2, *("g" * 30_000 for _ in range(3)))
    peer.connection.data_received(frame[:80_000])
    was_read = not peer.transport.is_reading_paused
    peer.connection.data_received(frame[80_000:] + heartbeat(3))
    server.loop.work()

    assert was_read
    assert peer.answers == [1, 2, 3]


def test_steps_of_a_connection_that_ended_do_nothing(server: Server) -> None:
    peer = server.connect()
    peer.send(*map(heartbeat, range(MANY)))
    asked = len(server.asked)
    peer.connection.connection_lost(None)
    server.loop.work()

    assert len(server.asked) == asked


def test_long_work_takes_a_step_a_turn_and_answers_when_done(server: Server) -> None:
    peer = server.connect()
    peer.send(describe(1))

    assert server.done_steps == 0
    server.loop.turn()
    assert server.done_steps == 1
    server.loop.work()
    assert (server.done_steps, peer.answers) == (3, [1])


def test_a_connection_has_one_long_request_in_progress_and_the_loop_a_few(server: Server) -> None:
    peers = [server.connect() for _ in range(MOST_IN_PROGRESS + 2)]
    for peer in peers:
        peer.send(describe(1), describe(2))
    for _ in range(3):
        server.loop.turn()

    assert server.done_steps == 3 * MOST_IN_PROGRESS
    server.loop.work()
    assert [peer.answers for peer in peers] == [[1, 2]] * len(peers)


def test_long_work_ends_with_its_connection_and_makes_room(server: Server) -> None:
    closed: list[int] = []

    def endless() -> Generator[None, None, DescribeGroupsResponse]:
        try:
            while not server.asked:
                yield
        finally:
            closed.append(1)
        return DescribeGroupsResponse()

    server.work = endless
    hostile = [server.connect() for _ in range(MOST_IN_PROGRESS)]
    for peer in hostile:
        peer.send(describe(1))
    server.loop.turn()
    server.work = server.three_steps
    honest = server.connect()
    honest.send(describe(5))
    for peer in hostile:
        peer.connection.connection_lost(None)
    server.loop.work()

    assert closed == [1] * MOST_IN_PROGRESS
    assert honest.answers == [5]


def test_a_peer_that_does_not_read_gets_one_long_answer_and_keeps_no_place(server: Server) -> None:
    lazy = [server.connect() for _ in range(MOST_IN_PROGRESS)]
    for peer in lazy:
        peer.send(describe(1), describe(2))
        peer.connection.pause_writing()
    honest = server.connect()
    honest.send(describe(5))
    server.loop.work()

    assert honest.answers == [5]
    assert [peer.answers for peer in lazy] == [[1]] * len(lazy)
    for peer in lazy:
        peer.connection.resume_writing()
    server.loop.work()
    assert [peer.answers for peer in lazy] == [[1, 2]] * len(lazy)


def test_a_long_answer_may_be_made_in_the_thread(server: Server) -> None:
    def beside() -> Generator[None, None, Beside[DescribeGroupsResponse]]:
        yield
        return Beside(DescribeGroupsResponse)

    peer = server.connect()
    server.work = beside
    peer.send(describe(1))
    server.loop.work()

    assert peer.answers == [1]


@pytest.mark.parametrize("error", [CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), ValueError("a bug")])
def test_long_work_that_raises_refuses_its_request_and_the_next_one_starts(server: Server, error: Exception) -> None:
    def fails() -> Generator[None, None, DescribeGroupsResponse]:
        yield
        raise error

    peer = server.connect()
    server.work = fails
    peer.send(describe(1, "group"))
    server.work = server.three_steps
    peer.send(describe(2, "group"))
    server.loop.work()

    assert peer.answers == [1, 2]
    assert not peer.transport.is_closed


@pytest.mark.parametrize("error", [CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), ValueError("a bug")])
def test_work_that_goes_on_without_its_connection_refuses_its_request_if_it_raises(error: Exception) -> None:
    """Otherwise nothing behind a large request would ever start."""
    loop = ManualLoop()
    steps = Steps(loop.turns)

    def fails() -> Generator[None, None, None]:
        yield
        raise error

    api = serve_row(DESCRIBE_GROUPS_API, lambda _context, _request, reply: steps.run_on(reply, fails()))
    peer = Peer(*loop.connect(Dispatcher([api], loop.background)))
    peer.send(describe(1, "group"))
    loop.work()

    assert peer.answers == [1]


def test_a_long_answer_that_cannot_be_encoded_closes_only_its_connection(server: Server) -> None:
    def bad() -> Generator[None, None, DescribeGroupsResponse]:
        yield
        return DescribeGroupsResponse(groups=[DescribedGroup(group_id="x" * 40_000)])

    peer, other = server.connect(), server.connect()
    server.work = bad
    peer.send(describe(1))
    server.work = server.three_steps
    other.send(describe(2))
    server.loop.work()

    assert (peer.transport.is_closed, peer.answers) == (True, [])
    assert other.answers == [2]


def test_a_large_request_is_decoded_beside_the_loop_and_nothing_overtakes_it(server: Server) -> None:
    peer = server.connect()
    names = ["x" * 30] * (LARGE_FRAME_BYTES // 30 + 1)
    peer.send(describe(1, *names), heartbeat(2), api_versions(3))

    assert (server.asked, server.done_steps) == ([], 0)
    server.loop.work()
    assert len(server.asked) == 1
    assert server.done_steps == 3
    assert peer.answers == [1, 2, 3]


def test_a_connection_has_one_large_request_in_progress(server: Server) -> None:
    """Also where requests of its class overlap."""
    peer = server.connect()
    names = ["x" * 30] * (LARGE_FRAME_BYTES // 30 + 1)
    steps: list[int] = []

    def waits() -> Generator[None, None, DescribeGroupsResponse]:
        steps.append(1)
        while len(steps) < 100:
            steps.append(0)
            yield
        return DescribeGroupsResponse()

    server.work = waits
    peer.send(describe(1, *names), describe(2, *names), api_versions(3))
    for _ in range(20):
        while server.loop.jobs:
            server.loop.jobs.popleft()()
        server.loop.turn()
    assert steps.count(1) == 1

    server.loop.work()
    assert peer.answers == [1, 2, 3]


def test_a_large_request_with_bad_bytes_closes_its_connection(server: Server) -> None:
    peer = server.connect()
    frame = describe(1, *["x" * 30] * (LARGE_FRAME_BYTES // 30 + 1))
    peer.send(frame[:-20] + b"\xff" * 20)
    server.loop.work()

    assert peer.transport.is_closed


def large_heartbeat() -> bytes:
    return encode_request(12, 4, 1, "client", HeartbeatRequest("g" * (LARGE_FRAME_BYTES // 2), 1, "m" * (LARGE_FRAME_BYTES // 2)))


def test_a_large_request_that_changes_something_goes_on_when_its_connection_ends(server: Server) -> None:
    """As in Kafka, and as one that is not large."""
    peer = server.connect()
    peer.send(large_heartbeat())
    peer.connection.connection_lost(None)
    assert peer.connection.unhandled_bytes() > LARGE_FRAME_BYTES
    server.loop.work()

    assert len(server.asked) == 1
    assert peer.connection.unhandled_bytes() == 0


def test_a_large_request_of_a_connection_that_is_shed_is_dropped(server: Server) -> None:
    """Its memory is needed."""
    peer = server.connect()
    peer.send(large_heartbeat())
    peer.connection.abort()
    peer.connection.connection_lost(None)
    assert peer.connection.unhandled_bytes() == 0
    server.loop.work()

    assert server.asked == []


def test_a_large_request_that_reads_is_not_served_when_its_connection_ends(server: Server) -> None:
    peer = server.connect()
    peer.send(describe(1, *["x" * 30] * (LARGE_FRAME_BYTES // 30 + 1)))
    peer.connection.connection_lost(None)
    server.loop.work()

    assert server.done_steps == 0


def test_long_request_headers_are_not_cached(server: Server) -> None:
    peer = server.connect()
    peer.send(heartbeat(1, client="c" * (MAX_KNOWN_HEADER_BYTES + 1)))

    assert peer.answers == [1]
    assert peer.connection.introduced == {}


def test_a_header_of_megabytes_closes_its_connection(server: Server) -> None:
    peer = server.connect()
    tags = b"\x01\x63" + bytes([0x80 | 0x70, 0x80 | 0x70, 0x04]) + bytes(MAX_HEADER_BYTES * 3)
    start = heartbeat(1)[4:12] + (6).to_bytes(2, "big") + b"client" + tags
    peer.send(len(start).to_bytes(4, "big") + start)
    server.loop.work()

    assert peer.transport.is_closed


def test_answers_kept_behind_one_that_is_not_ready_have_a_bound(server: Server) -> None:
    def never() -> Generator[None, None, DescribeGroupsResponse]:
        while server.done_steps < 100:
            yield
        return DescribeGroupsResponse()

    peer = server.connect()
    server.work = never
    peer.send(describe(1))
    server.loop.turn()
    waiting = peer.connection.unanswered[0]
    frames = [bytearray(600_000) for _ in range(3)]
    for each in frames:
        reply: Exchange[Any] = Exchange(peer.connection, waiting.row, waiting.context, 9, None)
        peer.connection.expect(reply)
        peer.connection.keep(reply, each)
    peer.send(heartbeat(2))

    assert server.asked == []
    server.done_steps = 100
    server.loop.work()
    assert len(server.asked) == 1
