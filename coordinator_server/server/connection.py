"""One client connection: bytes in, frames to the dispatcher, answers out in the order of their requests.

The path of a request is one synchronous pass: ``data_received`` splits frames, the dispatcher decodes and runs each, and what can be
answered at once leaves in one write at the end of the pass. An answer that has to wait keeps its place in ``_waiting``; the ones behind it
wait with it. Answers that come later, when the log is durable, are written once per turn of the loop.

A peer that does not read its answers, or has too many requests waiting, is not read from until that is over.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from struct import Struct
from typing import Any, Generic, Protocol, TypeVar, cast

import structlog

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.served_api import Introduction, ServedApi
from protocol.error_codes import ErrorCode
from protocol.errors import ProtocolError
from protocol.frames import FrameSplitter

R = TypeVar("R")

log = structlog.get_logger(__name__)

_LENGTH = Struct(">i")
_PREFIX = Struct(">ii")  # length, correlation id


class UnservedRequest(Exception):
    """The peer asks for an API or a version that it was not offered: as Kafka does, the connection closes."""


class Dispatch(Protocol):
    """Decodes one frame and runs its request. Raises ProtocolError and UnservedRequest for what must end the connection."""

    def __call__(self, connection: Connection, frame: bytes, /) -> None: ...


class PendingReply(Generic[R]):
    """The Reply of one request: its place in the connection's order, and how to write its answer."""

    __slots__ = ("api", "connection", "context", "correlation_id", "frame", "is_answered", "request")

    def __init__(
        self, connection: Connection, api: ServedApi, context: RequestContext, correlation_id: int, request: Any
    ) -> None:
        self.connection = connection
        self.api = api
        self.context = context
        self.correlation_id = correlation_id
        self.request = request
        self.frame: bytearray | None = None
        self.is_answered = False

    def complete(self, response: R, /) -> None:
        """Answer the request."""
        self.connection.answer(self, response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Answer the request with an error, in the form this API has for it."""
        self.connection.answer(self, self.api.refuse(self.context, self.request, error, message))

    def encode(self, response: Any, out: bytearray) -> None:
        """Append the response's frame, or, when it cannot be encoded, nothing: raises what the codec raises."""
        start = len(out)
        out += _PREFIX.pack(0, self.correlation_id)
        version = self.context.api_version
        if self.api.has_flexible_response_header[version]:
            out.append(0)
        try:
            self.api.encode[version](response, out)
        except BaseException:
            del out[start:]
            raise
        _LENGTH.pack_into(out, start, len(out) - start - 4)


class Connection(asyncio.Protocol):
    """A connection from its first byte to its last."""

    def __init__(
        self,
        dispatch: Dispatch,
        write_later: Callable[[Connection], None],
        when_closed: Callable[[Connection], None],
        max_frame_bytes: int,
        max_waiting: int,
    ) -> None:
        self.peer_host = ""
        self.peer_port = 0
        self.local_address: tuple[str, int] = ("", 0)
        # The last header of each API and version, which are the first bytes of a frame.
        self.introduced: dict[bytes, Introduction] = {}
        self._dispatch = dispatch
        self._write_later = write_later
        self._when_closed = when_closed
        self._frames = FrameSplitter(max_frame_bytes)
        self._max_waiting = max_waiting
        self._waiting: deque[PendingReply[Any]] = deque()
        self._backlog: deque[bytes] = deque()
        self._out = bytearray()
        self._transport: asyncio.Transport | None = None
        self._is_closed = False
        self._is_in_pass = False
        self._is_stalled = False  # the peer does not read
        self._is_paused = False  # we do not read
        self._is_ending = False  # nor ever will again

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A loop's own transports need not inherit from asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self.peer_host, self.peer_port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.local_address = (transport.get_extra_info("sockname") or ("", 0))[:2]

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closed = True
        self._transport = None
        self._waiting.clear()
        self._backlog.clear()
        self._when_closed(self)

    def data_received(self, data: bytes) -> None:
        if self._is_closed:
            return
        try:
            frames = self._frames.feed(data)
        except ProtocolError as bad:
            self._refuse(bad)
            return
        self._backlog.extend(frames)
        self._run()

    def pause_writing(self) -> None:
        self._is_stalled = True
        self._balance()

    def resume_writing(self) -> None:
        self._is_stalled = False
        self._run()

    # What the rest of the server calls

    def expect(self, reply: PendingReply[Any]) -> None:
        """The next request's place in the order."""
        self._waiting.append(reply)

    def answer(self, reply: PendingReply[Any], response: Any) -> None:
        """Write an answer, or keep it until those before it are there."""
        if self._is_closed:
            return
        assert not reply.is_answered, f"{reply.api.name} answered twice"
        reply.is_answered = True
        waiting = self._waiting
        is_due = self._is_in_pass or bool(self._out)
        try:
            if waiting[0] is not reply:
                reply.frame = bytearray()
                reply.encode(response, reply.frame)
                return
            reply.encode(response, self._out)
        except ProtocolError:
            log.exception("response-not-encodable", api=reply.api.name, version=reply.context.api_version)
            self.close()
            return
        waiting.popleft()
        while waiting and waiting[0].frame is not None:
            self._out += waiting.popleft().frame or b""
        if not is_due:
            self._write_later(self)

    def holds(self, reply: PendingReply[Any]) -> bool:
        """Whether an answer that was given is still in memory here: behind another one, or before a peer that does not read."""
        return not self._is_closed and (self._is_stalled or (reply.frame is not None and reply in self._waiting))

    def write(self) -> None:
        """Hand what has been answered to the transport, in one write."""
        self._flush()
        if self._is_paused:
            self._run()

    def stop_reading(self) -> None:
        """Take no more requests; those that were taken are still answered."""
        self._is_ending = True
        self._balance()

    def abort(self) -> None:
        """Hang up on a peer that does not read what it was sent."""
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Write what has been answered and hang up."""
        self._is_closed = True
        self._flush()
        if self._transport is not None:
            self._transport.close()

    # In between

    def _run(self) -> None:
        """Dispatch the frames that are there, as far as the bounds allow."""
        self._is_in_pass = True
        backlog, waiting, dispatch, most = self._backlog, self._waiting, self._dispatch, self._max_waiting
        must_wait = True
        try:
            # As ``_must_wait`` has it, without a call for each request.
            while not (must_wait := self._is_stalled or self._is_ending or len(waiting) >= most) and backlog:
                dispatch(self, backlog.popleft())
        except (ProtocolError, UnservedRequest) as bad:
            self._refuse(bad)
        finally:
            self._is_in_pass = False
        if self._out:
            self._flush()
        if must_wait or self._is_paused:
            self._balance()

    def _flush(self) -> None:
        if self._out and self._transport is not None:
            out, self._out = self._out, bytearray()
            self._transport.write(out)

    def _must_wait(self) -> bool:
        return self._is_stalled or self._is_ending or len(self._waiting) >= self._max_waiting

    def _balance(self) -> None:
        must_pause = self._must_wait() or bool(self._backlog)
        if must_pause != self._is_paused and self._transport is not None and not self._is_closed:
            self._is_paused = must_pause
            if must_pause:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def _refuse(self, why: Exception) -> None:
        log.info("connection-refused", peer=f"{self.peer_host}:{self.peer_port}", why=str(why))
        self._backlog.clear()
        self._waiting.clear()
        self.close()
