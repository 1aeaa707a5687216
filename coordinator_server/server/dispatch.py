"""The dispatcher: decodes a frame and runs the handler of its API."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from struct import Struct as Layout
from typing import Any, Final, NamedTuple

from coordinator_server.machine.provenance import request_origin
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.background import Background
from coordinator_server.server.connection import Connection, UnservedRequest
from coordinator_server.server.introduction import Introduction
from coordinator_server.server.order import Order, Turn
from coordinator_server.server.reply import LargeReply, LoggedLargeReply, LoggedReply, PendingReply, TimedReply
from coordinator_server.server.served_api import ServedApi
from protocol.api import API_VERSIONS_KEY
from protocol.error_codes import ErrorCode
from protocol.frames import decode_request_header
from protocol.messages.api_versions import ApiVersionsRequest

# A request header has the API key and version (two bytes each), the correlation id (four bytes), and the client's own fields.
_CORRELATION_ID = Layout(">i")
_AFTER_CORRELATION_ID = 8
_ALONE: Final = Order.ALONE
_READ_ONLY: Final = (Order.FREE, Order.READ)

SMALL_FRAME_BYTES: Final = 1 << 9
"""Larger requests are charged to their connection (``ApiRow.units_per_byte``)."""
LARGE_FRAME_BYTES: Final = 1 << 15
"""Larger requests are decoded beside the loop: the smallest elements take up to 5 ms per 32 KiB."""
MAX_HEADER_BYTES: Final = 1 << 16
"""A client id has at most 32 KiB. The rest is for tagged fields, of which none are known."""
MAX_KNOWN_HEADER_BYTES: Final = 512
"""Larger headers are decoded for every request, because a connection keeps one for each API and version."""


Make = Callable[[Connection, ServedApi, RequestContext, int, Any], PendingReply[Any]]


class Replies(NamedTuple):
    """What makes the reply of each request. ``keeps_answers``: a request may be answered by what is kept, without a reply."""

    make: Make
    make_timed: Make
    make_large: Make
    keeps_answers: bool


PLAIN_REPLIES: Final = Replies(PendingReply, TimedReply, LargeReply, keeps_answers=True)
LOGGED_REPLIES: Final = Replies(LoggedReply, LoggedReply, LoggedLargeReply, keeps_answers=False)


class _Denied(NamedTuple):
    """What the thread returns in place of a request that was denied before it was decoded."""

    answer: Any


class Dispatcher:
    """Runs requests by the table of served APIs."""

    def __init__(
        self,
        apis: Sequence[ServedApi],
        background: Background,
        *,
        logs_requests: bool = False,
        replies: Replies | None = None,
        has_provenance: bool = False,
    ) -> None:
        self._apis = {api.key: api for api in apis}
        self._background = background
        if replies is None:
            replies = LOGGED_REPLIES if logs_requests else PLAIN_REPLIES
        self._reply, self._timed_reply, self._large_reply, self._keeps_answers = replies
        self._has_provenance = has_provenance

    def __call__(self, connection: Connection, frame: bytes, /) -> bool:
        """Decode one request and run it; not before an earlier one is answered whose effect it must see (``order.py``)."""
        known = connection.introduced.get(frame[:4])
        if known is None or not frame.startswith(known.rest, _AFTER_CORRELATION_ID):
            known = self._introduce(connection, frame)
            if known is None:
                return True
        known.tally.requests += 1
        if known.repeat is not None and not connection.unanswered and (answer := known.answer_again(frame)):
            connection.out += answer
            return True
        return self._start(connection, known, frame)

    def _start(self, connection: Connection, known: Introduction, frame: bytes) -> bool:
        api, context = known.api, known.context
        is_behind_writes = False
        request: Any = None
        touched = None
        if api.order is not connection.order or api.order is _ALONE:
            if api.touches is not None and len(frame) <= LARGE_FRAME_BYTES:
                request, _ = known.decode(frame, known.position)
                touched = api.touches(request)
            turn = connection.turn_of(api, touched)
            if turn is Turn.LATER:
                return False
            is_behind_writes = turn is Turn.BEHIND_WRITES
        correlation_id: int = _CORRELATION_ID.unpack_from(frame, 4)[0]
        if len(frame) > SMALL_FRAME_BYTES:
            connection.use_up(api.units_per_byte * len(frame))
            if len(frame) > LARGE_FRAME_BYTES:
                large = self._large_reply(connection, api, context, correlation_id, None)
                large.is_behind_writes = is_behind_writes
                connection.expect(large)
                self._decode_beside(known, frame, large)
                return True
        if request is None:
            request, _ = known.decode(frame, known.position)
        tally = known.tally
        make = self._reply if tally.requests & tally.unmeasured else self._timed_reply
        reply = make(connection, api, context, correlation_id, request)
        if touched is not None:
            reply.touched = touched
        if is_behind_writes:
            reply.is_behind_writes = True
        connection.expect(reply)
        try:
            repeat = api.handle(context, request, reply)
        except Exception as failure:  # noqa: BLE001 - a bug in a handler ends its request alone, and is logged
            reply.fail_after(failure)
        else:
            if repeat is not None and self._keeps_answers:
                known.remember(frame, repeat, reply)
        return True

    def _decode_beside(self, known: Introduction, frame: bytes, reply: PendingReply[Any]) -> None:
        """Decode a request in the thread, then handle it."""
        connection = reply.connection
        connection.is_decoding, connection.order = True, _ALONE
        # Many of these may wait for the thread. If the connection ends, only a request that changes something goes on, as in Kafka.
        frames = connection.undecoded = [frame]
        is_read_only = reply.api.order in _READ_ONLY
        if is_read_only:
            connection.park(reply, frames.clear)
        # Not ``known.decode``: it may remember the connection's last request.
        decode, position = known.api.decode[known.context.api_version], known.position
        deny = known.api.deny_unread
        denial = None if deny is None else deny(known.context, frame, position)

        def decode_frame() -> Any:
            frame = frames.pop()
            if denial is not None and (answer := denial.answer(frame, position)) is not None:
                return _Denied(answer)
            return decode(frame, position)[0]

        def decoded(result: Any, took_ns: int) -> None:
            connection.unpark(reply)
            reply.decoded(took_ns)
            if isinstance(result, Exception):
                if not connection.is_closed:
                    connection.refuse(result)
            elif isinstance(result, _Denied):
                assert denial is not None
                denial.report()
                reply.complete(result.answer)
                connection.decoded()
            elif not (connection.is_closed and is_read_only):
                reply.request = result
                began_ns = time.perf_counter_ns()
                try:
                    reply.api.handle(reply.context, result, reply)
                except Exception as failure:  # noqa: BLE001 - a bug in a handler ends its request alone, and is logged
                    reply.fail_after(failure)
                reply.worked(time.perf_counter_ns() - began_ns)
                connection.decoded()

        reply.when_due(len(frame), partial(self._background.run, decode_frame, decoded))

    def _introduce(self, connection: Connection, frame: bytes) -> Introduction | None:
        """Decode a request header and cache it for later requests of the connection with the same header fields.

        Return None if the request has been answered already. Raises UnservedRequest.
        """
        header, position = decode_request_header(frame if len(frame) <= MAX_HEADER_BYTES else frame[:MAX_HEADER_BYTES])
        version, client_id = header.request_api_version, header.client_id or ""
        api = self._apis.get(header.request_api_key)
        if api is None:
            raise UnservedRequest(f"API key {header.request_api_key} is not served")
        if not api.min_version <= version <= api.max_version:
            if api.key == API_VERSIONS_KEY:
                self._answer_unknown_version(connection, api, client_id, header.correlation_id)
                return None
            raise UnservedRequest(f"{api.name} v{version} is not served, only v{api.min_version} to v{api.max_version}")
        origin = (
            request_origin(api.key, version, client_id, connection.peer_host, connection.principal)
            if self._has_provenance
            else None
        )
        context = RequestContext(client_id, connection.peer_host, api.key, version, connection.principal, origin)
        decode = api.decode[version]
        if api.reader is not None:
            decode = api.reader(version)
            # A reader remembers the last request. A connection has one for each API, whatever versions it uses.
            for other in [each for each, introduction in connection.introduced.items() if introduction.api is api]:
                del connection.introduced[other]
        known = Introduction(frame[_AFTER_CORRELATION_ID:position], position, api, context, decode)
        if len(known.rest) <= MAX_KNOWN_HEADER_BYTES:
            connection.introduced[frame[:4]] = known
        return known

    def _answer_unknown_version(self, connection: Connection, api: ServedApi, client_id: str, correlation_id: int) -> None:
        """Refuse a newer ApiVersions request with a version 0 answer that has the supported versions (KIP-511)."""
        oldest = RequestContext(client_id, connection.peer_host, api.key, 0)
        reply: PendingReply[Any] = PendingReply(connection, api, oldest, correlation_id, ApiVersionsRequest())
        connection.expect(reply)
        reply.fail(ErrorCode.UNSUPPORTED_VERSION)
