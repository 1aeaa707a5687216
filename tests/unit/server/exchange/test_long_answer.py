"""LongAnswer: the bytes are those of one response; what others add is in them; and no more is written than the peer reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.groups import LIST_GROUPS_API
from coordinator_server.server.exchange import long_answer
from coordinator_server.server.exchange.api_row import observed, serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.long_answer import LongAnswer
from coordinator_server.server.exchange.steps import Steps, Work, in_portions
from coordinator_server.server.wire import connection, long_write
from protocol.codec import encode
from protocol.error_codes import ErrorCode
from protocol.frames import FrameSplitter, decode_response, encode_request
from protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from tests.support.turns import ManualLoop

pytestmark = pytest.mark.interpreted

LIST_GROUPS, HEADER_BYTES = 16, {version: 4 + (version >= 3) for version in range(6)}
THROTTLE_MS = 7
NEWEST = 5


class Throttled:
    """An observer that writes into the frame, as quotas do."""

    def __init__(self, exchange: Exchange[Any]) -> None:
        pass

    def worked(self, exchange: Exchange[Any], ns: int, /) -> None:
        pass

    def answered(self, exchange: Exchange[Any], response: Any, error: ErrorCode, /) -> None:
        assert exchange.request is not None

    def encoded(self, exchange: Exchange[Any], response: Any, out: bytearray, start: int, /) -> None:
        version = exchange.context.api_version
        if version:
            at = start + 4 + HEADER_BYTES[version]
            out[at : at + 4] = THROTTLE_MS.to_bytes(4, "big")


class Peer:
    """A client of a server with some groups, which are listed a few in a step."""

    def __init__(self, groups: list[ListedGroup], a_step: int, amendment: Callable[[Any], Any] | None = None) -> None:
        self.loop = ManualLoop()
        self.steps = Steps(self.loop.turns)
        self.groups, self.a_step, self.amendment = groups, a_step, amendment
        rows = observed([serve_row(LIST_GROUPS_API, self._list)], Throttled)
        self.connection, self.transport = self.loop.connect(Dispatcher(rows, self.loop.background))
        self.asked = 0
        self.parked: list[Exchange[Any]] | None = None

    def _list(self, context: RequestContext, request: Any, exchange: Exchange[Any]) -> None:
        if self.amendment is not None:
            exchange.amend(self.amendment)
        if self.parked is None:
            self.steps.run(exchange, self._work(exchange))
        else:
            self.parked.append(exchange)

    def _work(self, exchange: Exchange[Any]) -> Work[LongAnswer[Any]]:
        answer: LongAnswer[Any] = LongAnswer(exchange, ListGroupsResponse(), "groups")
        for portion in in_portions(self.groups, self.a_step):
            answer.add(portion)
            yield
        return answer

    def ask(self, version: int = NEWEST) -> None:
        self.asked += 1
        self.connection.data_received(encode_request(LIST_GROUPS, version, self.asked, "client", ListGroupsRequest()))

    def frames(self) -> Iterator[bytes]:
        self.loop.work()
        return iter(FrameSplitter(1 << 24).feed(b"".join(self.transport.writes)))


def groups_of(count: int) -> list[ListedGroup]:
    return [ListedGroup(f"group-{number}", "consumer", "Stable", "classic") for number in range(count)]


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("count", [0, 1, 126, 127, 128, 16_384])
def test_the_bytes_are_those_of_one_response(version: int, count: int) -> None:
    """With each length of the number of elements, of the whole and of a step."""
    peer = Peer(groups_of(count), 130)
    peer.ask(version)

    [frame] = peer.frames()
    throttle_ms = THROTTLE_MS if version else 0
    assert frame[HEADER_BYTES[version] :] == encode(ListGroupsResponse(throttle_ms, groups=groups_of(count)), version)


@pytest.mark.parametrize("version", [0, NEWEST])
def test_what_others_leave_out_is_not_in_it(version: int) -> None:
    """Of some steps nothing is left."""

    def visible(response: ListGroupsResponse) -> ListGroupsResponse:
        return replace(response, groups=[each for each in response.groups if each.group_id.endswith("7")])

    peer = Peer(groups_of(300), 5, visible)
    peer.ask(version)

    [answer] = [decode_response(LIST_GROUPS, version, frame)[1] for frame in peer.frames()]
    assert isinstance(answer, ListGroupsResponse)
    assert [each.group_id for each in answer.groups] == [f"group-{number}" for number in range(7, 300, 10)]


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> Peer:
    """Answers of ten pieces and more."""
    for module in (connection, long_answer, long_write):
        monkeypatch.setattr(module, "PIECE_BYTES", 100)
    return Peer(groups_of(50), 4)


def test_no_more_is_written_than_the_peer_reads(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is done for it meanwhile."""
    transport, written = peer.transport, peer.transport.writes

    def write(piece: bytes) -> None:
        """As a transport whose peer has not read the last piece."""
        written.append(bytes(piece))
        peer.connection.pause_writing()

    monkeypatch.setattr(transport, "write", write)
    peer.ask()
    peer.loop.work()
    peer.ask()
    for count in range(1, 4):
        peer.loop.work()
        assert (len(written), peer.connection.is_reading) == (count, False)
        peer.connection.resume_writing()
    monkeypatch.undo()

    assert [decode_response(LIST_GROUPS, NEWEST, frame)[0] for frame in peer.frames()] == [1, 2]
    assert peer.connection.is_reading


def begin(peer: Peer) -> None:
    """Ask, and look when the answer is on its way."""
    peer.ask()
    while not peer.transport.writes:
        peer.loop.turn()


def test_a_step_does_not_write_all(peer: Peer) -> None:
    begin(peer)
    assert len(peer.transport.writes) == long_write.PIECES_PER_STEP
    assert len(list(peer.frames())) == 1
    assert len(peer.transport.writes) > 2 * long_write.PIECES_PER_STEP


def test_what_is_left_is_written_when_the_connection_closes(peer: Peer) -> None:
    begin(peer)
    peer.connection.close()

    written = b"".join(peer.transport.writes)
    assert len(FrameSplitter(1 << 20).feed(written)) == 1
    assert len(list(peer.frames())) == 1
    assert peer.transport.is_closed


def test_a_peer_that_is_gone_is_written_nothing(peer: Peer) -> None:
    begin(peer)
    peer.connection.connection_lost(None)
    peer.loop.work()

    assert len(peer.transport.writes) == long_write.PIECES_PER_STEP


def test_a_long_answer_of_the_thread_is_written_in_pieces_too(peer: Peer) -> None:
    """What is answered behind it comes behind it."""
    peer.parked = []
    peer.ask()
    peer.ask()
    first, second = peer.parked
    first.complete_beside(ListGroupsResponse(groups=groups_of(50)))
    peer.loop.jobs.popleft()()
    while not peer.transport.writes:
        peer.loop.turn()
    second.complete(ListGroupsResponse(groups=groups_of(1)))

    assert [decode_response(LIST_GROUPS, NEWEST, frame)[0] for frame in peer.frames()] == [1, 2]
    assert len(peer.transport.writes) > 2 * long_write.PIECES_PER_STEP
