"""Exchange: the states of a request, what observers see of it, and how its answer is amended."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.groups import HEARTBEAT_API
from coordinator_server.server.exchange.api_row import observed, serve_row
from coordinator_server.server.exchange.dispatch import LARGE_FRAME_BYTES, Dispatcher
from coordinator_server.server.exchange.exchange import Beside, Exchange
from coordinator_server.server.wire.order import State
from protocol.error_codes import ErrorCode
from protocol.frames import FrameSplitter, decode_response, encode_request
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.turns import ManualLoop

HEARTBEAT, VERSION = 12, 4
SMALL = HeartbeatRequest("g", 1, "m")
LARGE = HeartbeatRequest("g" * (LARGE_FRAME_BYTES // 2), 1, "m" * (LARGE_FRAME_BYTES // 2))
FENCED = HeartbeatResponse(error_code=ErrorCode.FENCED_INSTANCE_ID)


class Seen:
    """An observer that remembers what it was told, and what the state was then."""

    def __init__(self, exchange: Exchange[Any]) -> None:
        self.told: list[tuple[Any, ...]] = [("began", exchange.state, exchange.request)]

    def worked(self, exchange: Exchange[Any], ns: int, /) -> None:
        self.told.append(("worked", ns))

    def answered(self, exchange: Exchange[Any], response: Any, error: ErrorCode, /) -> None:
        self.told.append(("answered", response, error))

    def encoded(self, exchange: Exchange[Any], response: Any, out: bytearray, start: int, /) -> None:
        [frame] = FrameSplitter(1 << 20).feed(bytes(out[start:]))
        self.told.append(("encoded", response, decode_response(HEARTBEAT, VERSION, frame)[1]))

    def named(self, *names: str) -> list[tuple[Any, ...]]:
        return [each for each in self.told if each[0] in names]


class Peer:
    """A client of a server whose heartbeats are observed, and answered by hand."""

    def __init__(self) -> None:
        self.loop = ManualLoop()
        self.exchanges: list[Exchange[Any]] = []
        self.seen: list[Seen] = []
        rows = observed([serve_row(HEARTBEAT_API, self._park)], self._observe)
        self.connection, self.transport = self.loop.connect(Dispatcher(rows, self.loop.background))

    def _observe(self, exchange: Exchange[Any]) -> Seen:
        self.seen.append(Seen(exchange))
        return self.seen[-1]

    def _park(self, context: RequestContext, request: Any, exchange: Exchange[Any]) -> None:
        self.exchanges.append(exchange)

    def send(self, request: HeartbeatRequest) -> None:
        self.connection.data_received(encode_request(HEARTBEAT, VERSION, 7, "client", request))

    def begin(self, request: HeartbeatRequest) -> tuple[Exchange[Any], Seen]:
        """Send a request that is handled, and not answered yet."""
        self.send(request)
        self.loop.work()
        return self.exchanges[-1], self.seen[-1]

    def answers(self) -> list[Any]:
        self.loop.work()
        return [
            decode_response(HEARTBEAT, VERSION, frame)[1]
            for frame in FrameSplitter(1 << 20).feed(b"".join(self.transport.writes))
        ]


@pytest.fixture
def peer() -> Peer:
    return Peer()


def test_a_request_is_open_until_it_is_answered(peer: Peer) -> None:
    exchange, _ = peer.begin(SMALL)
    before = exchange.state
    exchange.complete(HeartbeatResponse())

    assert (before, exchange.state) == (State.OPEN, State.ANSWERED)


def test_a_large_request_is_decoded_and_its_answer_encoded_in_the_thread(peer: Peer) -> None:
    peer.send(LARGE)
    [waiting] = peer.connection.unanswered
    states = [waiting.state]
    peer.loop.work()
    states.append(waiting.state)
    waiting.complete(HeartbeatResponse())
    states.append(waiting.state)
    peer.loop.work()

    assert [*states, waiting.state] == [State.DECODING, State.OPEN, State.ENCODING, State.ANSWERED]


@pytest.mark.parametrize("request_", [SMALL, LARGE], ids=["small", "large"])
def test_an_observer_sees_an_answer_when_it_is_given_and_when_it_is_encoded(peer: Peer, request_: HeartbeatRequest) -> None:
    exchange, seen = peer.begin(request_)
    exchange.complete(FENCED)
    answered = seen.named("answered", "encoded")[0]
    peer.loop.work()

    assert answered == ("answered", FENCED, ErrorCode.NONE)
    assert seen.named("answered", "encoded")[1:] == [("encoded", FENCED, FENCED)]


def test_an_observer_of_a_small_request_begins_when_it_is_decoded_and_of_a_large_one_before(peer: Peer) -> None:
    seen = [peer.begin(request)[1] for request in (SMALL,)]
    peer.exchanges[0].complete(HeartbeatResponse())
    seen.append(peer.begin(LARGE)[1])

    assert [each.named("began") for each in seen] == [
        [("began", State.OPEN, SMALL)],
        [("began", State.OPEN, None)],
    ]


@pytest.mark.parametrize("request_", [SMALL, LARGE], ids=["small", "large"])
def test_of_a_refusal_an_observer_sees_the_error(peer: Peer, request_: HeartbeatRequest) -> None:
    exchange, seen = peer.begin(request_)
    exchange.fail(ErrorCode.UNKNOWN_MEMBER_ID)
    peer.loop.work()

    assert seen.named("answered") == [("answered", None, ErrorCode.UNKNOWN_MEMBER_ID)]
    assert [answer.error_code for answer in peer.answers()] == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_an_answer_to_a_client_that_is_gone_is_seen_and_not_encoded(peer: Peer) -> None:
    exchange, seen = peer.begin(SMALL)
    peer.connection.connection_lost(None)
    exchange.complete(FENCED)

    assert seen.named("answered", "encoded") == [("answered", FENCED, ErrorCode.NONE)]


def test_a_response_that_is_made_in_the_thread_is_seen_when_it_is_encoded(peer: Peer) -> None:
    exchange, seen = peer.begin(SMALL)
    done: list[State] = []
    exchange.complete_beside(Beside(lambda: FENCED), lambda: done.append(exchange.state))

    assert (done, seen.named("answered", "encoded")) == ([], [("answered", None, ErrorCode.NONE)])
    assert peer.answers() == [FENCED]
    assert (done, seen.named("encoded")) == ([State.ANSWERED], [("encoded", FENCED, FENCED)])


def test_all_observers_see_the_work(peer: Peer) -> None:
    exchange, first = peer.begin(SMALL)
    second = Seen(exchange)
    exchange.observe(second)
    exchange.worked(7)

    assert first.named("worked") == second.named("worked") == [("worked", 7)]


def test_a_request_that_is_not_observed_takes_work_too(peer: Peer) -> None:
    exchange, _ = peer.begin(SMALL)
    plain: Exchange[Any] = Exchange(peer.connection, exchange.row, exchange.context, 1, SMALL)
    plain.worked(7)

    assert plain.observers is None


@pytest.mark.parametrize("request_", [SMALL, LARGE], ids=["small", "large"])
def test_the_last_amendment_is_applied_first(peer: Peer, request_: HeartbeatRequest) -> None:
    exchange, seen = peer.begin(request_)
    exchange.amend(lambda response: HeartbeatResponse(throttle_time_ms=response.throttle_time_ms * 10))
    exchange.amend(lambda response: HeartbeatResponse(throttle_time_ms=response.throttle_time_ms + 1))
    exchange.complete(HeartbeatResponse(throttle_time_ms=4))

    assert [answer.throttle_time_ms for answer in peer.answers()] == [50]
    [(_, given, written)] = seen.named("encoded")
    assert (given.throttle_time_ms, written.throttle_time_ms) == (4, 50)


def test_a_refusal_is_amended_too(peer: Peer) -> None:
    exchange, _ = peer.begin(SMALL)
    exchange.amend(lambda _response: FENCED)
    exchange.fail(ErrorCode.UNKNOWN_MEMBER_ID)

    assert peer.answers() == [FENCED]


def test_the_errors_of_an_answer_are_counted_as_the_handler_gave_it(peer: Peer) -> None:
    exchange, _ = peer.begin(SMALL)
    exchange.amend(lambda _response: FENCED)
    exchange.fail(ErrorCode.UNKNOWN_MEMBER_ID)

    assert exchange.row.tallies[VERSION].errors == {ErrorCode.UNKNOWN_MEMBER_ID: 1}


def test_an_amendment_that_fails_leaves_no_bytes(peer: Peer) -> None:
    exchange, _ = peer.begin(SMALL)

    def fail(_response: Any) -> Any:
        raise ZeroDivisionError

    exchange.amend(fail)
    out = bytearray(b"before")
    with pytest.raises(ZeroDivisionError):
        exchange.encode(HeartbeatResponse(), out)

    assert out == b"before"


def test_a_large_request_is_answered_once(peer: Peer) -> None:
    exchange, _ = peer.begin(LARGE)
    exchange.complete(HeartbeatResponse())

    with pytest.raises(AssertionError, match="answered twice"):
        exchange.fail(ErrorCode.UNKNOWN_MEMBER_ID)


def test_a_bug_after_a_large_answer_does_not_answer_again(peer: Peer) -> None:
    """The answer is not encoded yet."""
    exchange, seen = peer.begin(LARGE)
    exchange.complete(FENCED)
    exchange.fail_after(ZeroDivisionError())

    assert peer.answers() == [FENCED]
    assert len(seen.named("answered")) == 1


def test_a_refusal_after_the_answer_is_a_bug(peer: Peer) -> None:
    exchange, _ = peer.begin(SMALL)
    exchange.complete(HeartbeatResponse())

    with pytest.raises(AssertionError, match="answered twice"):
        exchange.fail_after(CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID))
