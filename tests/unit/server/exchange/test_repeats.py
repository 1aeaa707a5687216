"""A request that a client repeats byte for byte: from the third time on its last answer is sent, as long as that is right."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.context import ShardContext, ShardState
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.server.apis.groups import HEARTBEAT_API
from coordinator_server.server.exchange.api_row import observed, serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange, Observe
from coordinator_server.server.exchange.introduction import REPEATED_MAX_BYTES
from coordinator_server.server.exchange.request_log import RequestLine
from coordinator_server.server.wire.connection import Limits
from protocol.coordinator_records import GROUP_SERDE
from protocol.error_codes import ErrorCode
from protocol.frames import FrameSplitter, decode_response, encode_request
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.turns import ManualLoop

HEARTBEAT = 12
LIMITS = Limits(10_000, 100)
DURABLE = 7
ANSWER = HeartbeatResponse(throttle_time_ms=1)


class Peer:
    """A client on one connection to a server that has a short way for each heartbeat."""

    def __init__(self, *observers: Observe) -> None:
        self._loop = ManualLoop()
        self.row = serve_row(HEARTBEAT_API, self._handle)
        rows = [self.row]
        for observe in observers:
            rows = observed(rows, observe)
        self.connection, self.transport = self._loop.connect(Dispatcher(rows, self._loop.background), LIMITS)
        self.shard: ShardContext[Any] = ShardContext(ShardId("t", 0), 1, GROUP_SERDE)
        self.shard.state, self.shard.high_watermark = ShardState.ACTIVE, DURABLE
        self.handled: list[str] = []
        self.parked: list[Exchange[Any]] = []
        self.is_parking = False
        self.answers_again: bool | CoordinatorError = True
        self.short_ways: list[int] = []
        self.response = ANSWER

    def _handle(self, context: RequestContext, request: Any, reply: Exchange[Any]) -> Repeat | None:
        self.handled.append(request.member_id)
        if self.is_parking:
            self.parked.append(reply)
            return None
        reply.complete(self.response)
        return Repeat(self.shard, self._again, self.response)

    def _again(self, durable: int) -> bool:
        self.short_ways.append(durable)
        if isinstance(self.answers_again, CoordinatorError):
            raise self.answers_again
        return self.answers_again

    def turn(self) -> None:
        """The turn of the loop ends."""
        self._loop.turn()

    def beat(self, *members: str, version: int = 4) -> list[tuple[int, object]]:
        """One heartbeat of each, in one segment: correlation ids and answers of all that came out."""
        frames = [
            encode_request(HEARTBEAT, version, number, "client", HeartbeatRequest("g", 1, member))
            for number, member in enumerate(members)
        ]
        self.transport.writes.clear()
        self.connection.data_received(b"".join(frames))
        self._loop.turn()
        answers = FrameSplitter(1 << 20).feed(b"".join(self.transport.writes))
        return [decode_response(HEARTBEAT, version, answer) for answer in answers]


@pytest.fixture
def peer() -> Peer:
    return Peer()


@pytest.mark.parametrize("version", range(5))
def test_the_third_is_not_handled(peer: Peer, version: int) -> None:
    """Each answer has the id of its own request, whatever the form of the version's header is."""
    answers = peer.beat(*["m"] * 4, version=version)

    expected = ANSWER if version >= 1 else HeartbeatResponse()
    assert answers == [(number, expected) for number in range(4)]
    assert (peer.handled, peer.short_ways) == (["m"] * 2, [DURABLE] * 2)


def test_a_different_request_is_handled(peer: Peer) -> None:
    """And the one before is not remembered any more: a client with two in turn gains nothing, and pays nothing."""
    peer.beat("m", "m", "m", "n", "m", "n")

    assert peer.handled == ["m", "m", "n", "m", "n"]
    assert len(peer.short_ways) == 1


@pytest.mark.parametrize("refusal", [False, CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)])
def test_what_has_changed_is_handled(peer: Peer, refusal: bool | CoordinatorError) -> None:
    peer.beat("m", "m")
    peer.answers_again, peer.response = refusal, HeartbeatResponse(error_code=27)

    changed = peer.beat("m")
    peer.answers_again = True
    same = peer.beat("m", "m")

    assert [response for _, response in changed + same] == [HeartbeatResponse(error_code=27)] * 3
    assert peer.handled == ["m"] * 3


def test_a_shard_that_is_gone_answers_nothing(peer: Peer) -> None:
    peer.beat("m", "m", "m")
    peer.shard.state = ShardState.CLOSED
    peer.beat("m")

    assert len(peer.handled) == 3


def test_an_earlier_request_is_answered_first(peer: Peer) -> None:
    """While one waits, the ordinary way keeps the order."""
    peer.beat("m", "m")
    peer.is_parking = True
    assert peer.beat("other", version=3) == []
    peer.is_parking = False

    assert peer.beat("m", "m") == []
    assert (peer.handled[2:], peer.short_ways) == (["other", "m", "m"], [])
    peer.parked[0].complete(ANSWER)
    peer.turn()
    assert peer.beat("m") == [(0, ANSWER)]
    assert len(peer.short_ways) == 1


def test_long_requests_are_handled(peer: Peer) -> None:
    """Every connection would keep one."""
    peer.beat(*["m" * REPEATED_MAX_BYTES] * 3)

    assert len(peer.handled) == 3


def test_every_request_that_is_observed_is_handled() -> None:
    """At debug level there is a line for each."""
    peer = Peer(RequestLine)
    with capture_logs() as lines:
        peer.beat("m", "m", "m", "m")

    assert (len(peer.handled), len(lines)) == (4, 4)
