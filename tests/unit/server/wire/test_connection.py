"""Connection and Dispatcher: order, bounds, back-pressure, and what a peer gets that is wrong."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Provenance, operation_headers, read_provenance
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.brokers import API_VERSIONS_API
from coordinator_server.server.apis.groups import HEARTBEAT_API, JOIN_GROUP_API
from coordinator_server.server.apis.offset_commit import OFFSET_COMMIT_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.wire.connection import Limits
from protocol.batch_builder import BatchBuilder
from protocol.error_codes import ErrorCode
from protocol.frames import FrameSplitter, decode_response, encode_request
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.record_batch import Headers, iter_batches, iter_records
from tests.support.turns import ManualLoop

OFFSET_COMMIT, JOIN_GROUP, HEARTBEAT, API_VERSIONS = 8, 11, 12, 18
MAX_FRAME_BYTES = 10_000
MAX_WAITING = 5


class Peer:
    """A client on one connection to a server whose heartbeats are answered by hand."""

    def __init__(self, *, has_provenance: bool = True) -> None:
        self.loop = ManualLoop()
        self.parked: list[Exchange] = []
        self.handle: Callable[[RequestContext, Any, Exchange], None] = lambda context, request, reply: self.parked.append(reply)
        apis = [
            serve_row(HEARTBEAT_API, self._handle),
            serve_row(JOIN_GROUP_API, self._handle),
            serve_row(OFFSET_COMMIT_API, self._handle),
            serve_row(API_VERSIONS_API, lambda context, request, reply: reply.complete(ApiVersionsResponse())),
        ]
        dispatcher = Dispatcher(apis, self.loop.background, has_provenance=has_provenance)
        self.connection, self.transport = self.loop.connect(dispatcher, Limits(MAX_FRAME_BYTES, MAX_WAITING))

    def _handle(self, context: RequestContext, request: Any, reply: Exchange) -> None:
        self.handle(context, request, reply)

    def send(self, *correlation_ids: int) -> None:
        self.connection.data_received(b"".join(heartbeat(correlation_id) for correlation_id in correlation_ids))

    def turn(self) -> None:
        """The turn of the loop ends."""
        self.loop.turn()

    def answers(self) -> list[tuple[int, int]]:
        """Correlation id and error of every answer so far."""
        frames = FrameSplitter(1 << 20).feed(b"".join(self.transport.writes))
        decoded = [decode_response(HEARTBEAT, 4, frame) for frame in frames]
        return [
            (correlation_id, message.error_code) for correlation_id, message in decoded if isinstance(message, HeartbeatResponse)
        ]


def heartbeat(correlation_id: int) -> bytes:
    return encode_request(HEARTBEAT, 4, correlation_id, "client", HeartbeatRequest("group", 1, "member"))


@pytest.fixture
def peer() -> Peer:
    return Peer()


def test_a_request_cut_anywhere_is_one_request(peer: Peer) -> None:
    for byte in heartbeat(7):
        peer.connection.data_received(bytes([byte]))

    assert [reply.request.member_id for reply in peer.parked] == ["member"]
    context = peer.parked[0].context
    assert (context.client_id, context.client_host, context.api_key, context.api_version) == ("client", "192.0.2.1", HEARTBEAT, 4)


def test_who_asks_is_found_out_once_unless_the_client_changes_its_name(peer: Peer) -> None:
    peer.send(1, 2)
    peer.connection.data_received(encode_request(HEARTBEAT, 4, 3, "other", HeartbeatRequest("group", 1, "member")))
    peer.connection.data_received(encode_request(HEARTBEAT, 3, 4, "other", HeartbeatRequest("group", 1, "member")))
    first, second, third, fourth = (reply.context for reply in peer.parked)

    assert second is first
    assert (third.client_id, third.api_version) == ("other", 4)
    assert (fourth.client_id, fourth.api_version) == ("other", 3)
    assert [read_provenance(headers_of(context)) for context in (first, third)] == [
        Provenance("12/4", 12, 4, client_id=name, client_host="192.0.2.1") for name in ("client", "other")
    ]


def test_a_connection_remembers_one_commit_whatever_versions_it_uses(peer: Peer) -> None:
    """The shape of a commit may be large."""
    for version in (8, 9, 10, 8):
        topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 1)])]
        commit = OffsetCommitRequest("group", -1, "", topics=topics)
        peer.connection.data_received(encode_request(OFFSET_COMMIT, version, 7, "client", commit))
    peer.send(8)

    assert [each.row.key for each in peer.connection.introduced.values()] == [OFFSET_COMMIT, HEARTBEAT]
    assert [reply.context.api_version for reply in peer.parked] == [8, 9, 10, 8, 4]


def test_without_provenance_contexts_have_no_origin() -> None:
    peer = Peer(has_provenance=False)
    peer.send(1)

    assert peer.parked[0].context == RequestContext("client", "192.0.2.1", HEARTBEAT, 4)


def headers_of(context: RequestContext) -> Headers:
    """The headers of a record that a request in this context would write."""
    builder = BatchBuilder(0, 0)
    builder.append(b"k", b"v", operation_headers(context.origin, None))
    [(position, header)] = iter_batches(batch := builder.finish())
    return next(iter_records(batch, position, header)).headers


def test_answers_leave_in_the_order_of_their_requests(peer: Peer) -> None:
    peer.send(1, 2, 3)
    first, second, third = peer.parked
    third.complete(HeartbeatResponse())
    second.complete(HeartbeatResponse(error_code=27))
    peer.turn()
    assert peer.transport.writes == []

    first.complete(HeartbeatResponse())
    peer.turn()
    assert peer.answers() == [(1, 0), (2, 27), (3, 0)]


def test_what_is_answered_in_a_pass_leaves_in_one_write(peer: Peer) -> None:
    peer.handle = lambda context, request, reply: reply.complete(HeartbeatResponse())
    peer.send(1, 2, 3)

    assert len(peer.transport.writes) == 1
    assert peer.answers() == [(1, 0), (2, 0), (3, 0)]


def test_late_answers_are_one_write_at_the_end_of_the_turn(peer: Peer) -> None:
    peer.send(1, 2, 3)
    for reply in peer.parked:
        reply.complete(HeartbeatResponse())
    assert peer.transport.writes == []

    peer.turn()
    assert len(peer.transport.writes) == 1


def test_a_refusal_is_the_apis_own_response(peer: Peer) -> None:
    def refuse(context: RequestContext, request: Any, reply: Exchange) -> None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)

    peer.handle = refuse
    peer.send(1)

    assert peer.answers() == [(1, ErrorCode.UNKNOWN_MEMBER_ID)]


def test_a_bug_in_a_handler_is_unknown_server_error_and_the_connection_lives(peer: Peer) -> None:
    def broken(context: RequestContext, request: Any, reply: Exchange) -> None:
        raise ZeroDivisionError

    peer.handle = broken
    peer.send(1)
    peer.handle = lambda context, request, reply: reply.complete(HeartbeatResponse())
    peer.send(2)

    assert peer.answers() == [(1, ErrorCode.UNKNOWN_SERVER_ERROR), (2, 0)]


def test_a_bug_after_the_answer_does_not_answer_again(peer: Peer) -> None:
    """A second answer would be taken for that of the next request."""

    def broken(context: RequestContext, request: Any, reply: Exchange) -> None:
        reply.complete(HeartbeatResponse(error_code=27))
        raise ZeroDivisionError

    peer.handle = broken
    peer.send(1)
    peer.handle = lambda context, request, reply: reply.complete(HeartbeatResponse())
    peer.send(2)

    assert peer.answers() == [(1, 27), (2, 0)]


def test_too_many_waiting_requests_stop_the_reading_until_they_are_answered(peer: Peer) -> None:
    peer.send(*range(1, 9))
    assert peer.transport.is_reading_paused
    assert len(peer.parked) == MAX_WAITING

    for reply in peer.parked[:]:
        reply.complete(HeartbeatResponse())
    peer.turn()
    assert len(peer.parked) == 8
    assert not peer.transport.is_reading_paused


def test_a_peer_that_does_not_read_is_not_read_from(peer: Peer) -> None:
    peer.connection.pause_writing()
    peer.send(1)
    assert (peer.transport.is_reading_paused, len(peer.parked)) == (True, 0)

    peer.connection.resume_writing()
    assert (peer.transport.is_reading_paused, len(peer.parked)) == (False, 1)


def test_a_connection_that_is_held_back_is_read_again_when_its_requests_have_been_handled(peer: Peer) -> None:
    """What waits behind an earlier answer is read beside otherwise."""
    peer.connection.data_received(encode_request(JOIN_GROUP, 3, 1, "client", JoinGroupRequest("group", 1, 1)))
    peer.send(2)
    before = (peer.connection.has_waiting, peer.transport.is_reading_paused)
    peer.connection.hold_back()
    held = (len(peer.parked), peer.transport.is_reading_paused)
    peer.parked[0].complete(JoinGroupResponse())
    peer.turn()

    assert (before, held) == ((True, False), (1, True))
    assert (len(peer.parked), peer.transport.is_reading_paused) == (2, False)


def test_a_connection_without_waiting_requests_is_not_held_back(peer: Peer) -> None:
    """Nothing would let it go."""
    peer.connection.hold_back()

    assert not peer.transport.is_reading_paused


def test_only_who_is_authenticated_and_reads_its_answers_is_owed_something(peer: Peer) -> None:
    """While a request waits, and while nothing is read."""
    peer.send(*range(1, 9))
    found = [peer.connection.is_owed]
    peer.connection.principal = "User:alice"
    found.append(peer.connection.is_owed)
    peer.connection.pause_writing()
    found.append(peer.connection.is_owed)
    peer.connection.resume_writing()
    for reply in peer.parked[:]:
        reply.complete(HeartbeatResponse())
    peer.turn()
    found.append(peer.connection.is_owed)
    peer.connection.mute()
    found.append(peer.connection.is_owed)

    assert found == [False, True, False, False, True]


def test_a_server_that_stops_reads_no_more_and_still_answers_what_it_has_read(peer: Peer) -> None:
    peer.send(1)
    peer.connection.stop_reading()
    peer.send(2)
    peer.parked[0].complete(HeartbeatResponse())
    peer.turn()

    assert peer.answers() == [(1, 0)]
    assert peer.transport.is_reading_paused


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">i", -1),
        struct.pack(">i", MAX_FRAME_BYTES + 1),
        struct.pack(">i", 3) + b"abc",
        struct.pack(">ihhi", 8, 9999, 0, 1),
        struct.pack(">ihhi", 8, HEARTBEAT, 99, 1),
        struct.pack(">ihhi", 8, HEARTBEAT, 4, 1),
        b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=["negative length", "too long", "no header", "unknown api", "unknown version", "truncated", "another protocol"],
)
def test_a_peer_that_makes_no_sense_is_hung_up_on(peer: Peer, data: bytes) -> None:
    peer.connection.data_received(data)

    assert peer.transport.is_closed
    assert peer.transport.writes == []


def test_what_was_answered_before_the_nonsense_still_leaves(peer: Peer) -> None:
    peer.handle = lambda context, request, reply: reply.complete(HeartbeatResponse())
    peer.connection.data_received(heartbeat(1) + struct.pack(">ihhi", 8, 9999, 0, 1))

    assert peer.answers() == [(1, 0)]
    assert peer.transport.is_closed


def test_an_unknown_version_of_api_versions_is_told_in_version_0_which_are_known(peer: Peer) -> None:
    frame = encode_request(API_VERSIONS, 4, 5, "client", ApiVersionsRequest("client", "1"))
    peer.connection.data_received(frame[:6] + struct.pack(">h", 99) + frame[8:])

    (answer,) = FrameSplitter(1 << 20).feed(peer.transport.writes[0])
    correlation_id, response = decode_response(API_VERSIONS, 0, answer)
    assert isinstance(response, ApiVersionsResponse)
    assert (correlation_id, response.error_code) == (5, ErrorCode.UNSUPPORTED_VERSION)
    assert [(api.api_key, api.min_version, api.max_version) for api in response.api_keys] == [(API_VERSIONS, 0, 4)]
    assert not peer.transport.is_closed


def test_an_answer_to_a_peer_that_is_gone_goes_nowhere(peer: Peer) -> None:
    peer.send(1)
    peer.connection.connection_lost(None)
    peer.parked[0].complete(HeartbeatResponse())
    peer.turn()

    assert peer.transport.writes == []
    assert peer.loop.closed == [peer.connection]


def test_a_request_is_answered_once(peer: Peer) -> None:
    peer.send(1)
    peer.parked[0].complete(HeartbeatResponse())

    with pytest.raises(AssertionError, match="answered twice"):
        peer.parked[0].complete(HeartbeatResponse())


def test_of_an_answer_that_cannot_be_encoded_the_peer_sees_nothing_and_the_connection_closes(peer: Peer) -> None:
    peer.send(1, 2, 3)
    first, broken, last = peer.parked
    first.complete(HeartbeatResponse(error_code=27))
    broken.complete(HeartbeatResponse(error_code=1 << 20))
    last.complete(HeartbeatResponse())

    assert peer.answers() == [(1, 27)]
    assert peer.transport.is_closed


def test_an_answer_that_cannot_be_encoded_in_its_turn_leaves_the_next_ones_place_clean(peer: Peer) -> None:
    peer.send(1, 2)
    first, second = peer.parked
    second.complete(HeartbeatResponse(error_code=27))
    first.complete(HeartbeatResponse(error_code=1 << 20))

    assert b"".join(peer.transport.writes) == b""
    assert peer.transport.is_closed
