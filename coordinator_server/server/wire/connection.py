"""One client connection: splits bytes into frames for the dispatcher, and writes answers in the order of their requests.

A request takes one synchronous pass: ``data_received`` splits frames, the dispatcher decodes and runs each, and all immediate
answers are written together at the end of the pass. An answer that is not ready keeps its position in ``unanswered``, and later
answers wait behind it. Answers that become ready when records are durable are written once per turn of the loop.

A pass ends when its quantum is used up. The rest waits for a later turn (``turns.py``), and so does the next pass of a connection
whose last one was expensive. Reading pauses while the peer does not read its answers, has too many requests waiting or too many
bytes of answers kept.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable
from ssl import SSLObject
from typing import Any, Final, NamedTuple, Protocol, cast

import structlog

from coordinator_server.machine.provenance import ANONYMOUS
from coordinator_server.server.wire.background import Background
from coordinator_server.server.wire.long_write import PIECE_BYTES, LongWrite, Pieces
from coordinator_server.server.wire.order import Order
from coordinator_server.server.wire.quantum import EXPENSIVE, QUANTUM, REQUESTS_PER_PASS
from coordinator_server.server.wire.turns import Turns
from protocol.errors import ProtocolError
from protocol.frames import FrameSplitter

log = structlog.get_logger(__name__)

HELD_MAX_BYTES: Final = 1 << 16
"""Bytes that are read ahead while a frame is held back."""
KEPT_MAX_BYTES: Final = 1 << 20
"""Bytes of answers kept behind an earlier one that is not ready. More requests are not run then."""


class UnservedRequest(Exception):
    """The error of a request for an API or version that is not served. As in Kafka, the connection closes."""


class LeaseOver(Exception):
    """The error of requests to a node whose lease of the catalog is over."""


class Dispatch(Protocol):
    """Decodes one frame and runs its request. Raises ProtocolError and UnservedRequest if the connection must close."""

    def __call__(self, connection: Connection, frame: bytes, /) -> bool:
        """Return whether the request has started. If not, an earlier one must be answered first."""


class Limits(NamedTuple):
    """The most bytes of a frame, and the number of unanswered requests at which reading stops."""

    frame_bytes: int
    waiting: int


class Connection(asyncio.Protocol):
    """One client connection. ``turns`` and ``background`` are shared by all connections of the loop."""

    def __init__(
        self,
        dispatch: Dispatch,
        write_later: Callable[[Connection], None],
        when_closed: Callable[[Connection], None],
        limits: Limits,
        turns: Turns,
        background: Background,
    ) -> None:
        self.peer_host, self.peer_port = "", 0
        self.local_address: tuple[str, int] = ("", 0)
        # The number of the listener that the client connected to.
        self.listener = 0
        self.principal = ANONYMOUS
        # Returns the principal of a connection with TLS.
        self.principal_of: Callable[[SSLObject], str] | None = None
        # How the client proves who it is, on a listener with SASL (``login.py``).
        self.login: object | None = None
        # What the dispatcher knows by API key and version, the first four bytes of a frame (``introduction.py``).
        self.introduced: dict[bytes, Any] = {}
        # The requests that have started, in the order of their answers (``exchange.py``).
        self.unanswered: deque[Any] = deque()
        # Their answers that are encoded, and wait behind an earlier one that is not ready.
        self.kept: dict[object, bytearray | Pieces] = {}
        # The answers that are written next.
        self.out = bytearray()
        # A request of this class may start at once, unless it is ALONE (``dispatch.py``).
        self.order = Order.FREE
        # A large request is being decoded: until that is done, only FREE ones may start behind it.
        self.is_decoding = False
        # Its frame, until the thread takes it.
        self.undecoded: list[bytes] = []
        # Called after a read that leaves a part of a request, or a large one that waits (``Receiving.received``).
        self.received: Callable[[Connection, int, int], bool] = _not_counted
        # Called for what is counted and logged (``Incidents.report``).
        self.report: Callable[..., None] = _not_reported
        self._dispatch = dispatch
        self.write_later = write_later
        self._when_closed = when_closed
        self._frames = FrameSplitter(limits.frame_bytes)
        self._max_waiting = limits.waiting
        self._backlog: deque[bytes] = deque()
        self._transport: asyncio.Transport | None = None
        self.is_closed = False
        self.is_in_pass = False
        # What waits on behalf of the peer and changes nothing: it ends with the connection.
        self._parked: dict[Hashable, Callable[[], None]] = {}
        self._turns, self._gate = turns, turns.gate
        self.background = background
        self._is_stalled = self._is_muted = False  # the peer does not read; its client exceeds a quota
        self._is_blocked = False  # for one of these reasons no request may start
        self._when_sent: list[tuple[object, Callable[[], None]]] = []
        self._is_paused = self._is_held_back = False  # we do not read; for want of memory, while requests wait
        self._is_ending = False  # we do not read any more requests
        self._is_holding = False  # the backlog waits for an earlier answer or for a step, or the next pass must be a step
        self._kept_bytes = self._held_bytes = 0  # of answers that are kept; received since then
        self._is_counted = False  # ``received`` is called after each read
        self._is_used = True  # bytes were received or written since the last call of ``was_used``
        self._unsent_bytes = 0  # as of that call
        self._used = 0  # units charged in this pass
        self._needs_step = self._is_queued = False  # the next pass must be a step; that is queued
        self._long: LongWrite | None = None

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # An event loop's own transports may not inherit from asyncio.Transport.
        self._transport = cast(asyncio.Transport, transport)
        self.peer_host, self.peer_port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.local_address = (transport.get_extra_info("sockname") or ("", 0))[:2]
        if self.principal_of is not None:
            try:
                self.principal = self.principal_of(transport.get_extra_info("ssl_object"))
            except ValueError as unknown:
                self.refuse(unknown)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        self._transport = None
        # A request that is parked keeps its connection: a half-received one must not stay with it.
        self._frames.clear()
        self.unanswered.clear()
        self.kept.clear()
        self._backlog.clear()
        if self._long is not None:
            self._long.pause()
            self._long = None
        parked, self._parked = self._parked, {}
        for forget in parked.values():
            forget()
        self._when_closed(self)

    def data_received(self, data: bytes) -> None:
        if self.is_closed:
            return
        try:
            frames = self._frames.feed(data)
        except ProtocolError as bad:
            self.refuse(bad)
            return
        self._is_used = True
        self._backlog.extend(frames)
        if self._is_holding:
            self._held_bytes += len(data)
            if self._needs_step:
                self._go_on()
            self._balance()
        else:
            self._run()
        partial = self._frames.held
        if partial or self._is_counted:
            self._is_counted = self.received(self, partial, len(data))

    def pause_writing(self) -> None:
        self._is_stalled = True
        if self._long is not None:
            self._long.pause()
        self._block()
        self._balance()

    def resume_writing(self) -> None:
        self._is_stalled = False
        if self._long is not None:
            self._long.go_on()
        self._block()
        self._go_on()

    # Called by the rest of the server

    @property
    def dispatch(self) -> Dispatch:
        """What decodes and runs requests."""
        return self._dispatch

    def mute(self) -> None:
        """Start no more requests, and read nothing, until ``unmute``. Requests that have started are answered."""
        self._is_muted = True
        self._block()
        self._balance()

    def unmute(self) -> None:
        """Go on with the requests that wait."""
        self._is_muted = False
        self._block()
        if not self.is_closed:
            self._go_on()
            self._balance()

    def dispatch_with(self, dispatch: Dispatch, frame_bytes: int) -> None:
        """Let ``dispatch`` run the requests from the next pass on, and forget what earlier ones have introduced.

        Requests have at most ``frame_bytes`` from now on.
        """
        self._dispatch = dispatch
        self._frames.max_frame_bytes = frame_bytes
        self.introduced.clear()

    def expect(self, exchange: object) -> None:
        """Append the next request to the order of answers."""
        self.unanswered.append(exchange)

    def release(self) -> None:
        """Move the answers that are due from those that are kept to those to write."""
        waiting, kept = self.unanswered, self.kept
        while waiting and (frame := kept.pop(waiting[0], None)) is not None:
            self._kept_bytes -= len(frame)
            waiting.popleft()
            if isinstance(frame, bytearray):
                self.out += frame
            else:
                self._begin_long(frame)
        if self._is_blocked or self._when_sent:
            self._block()

    def keep(self, exchange: object, frame: bytearray) -> None:
        """Keep the answer of a request that is not the first unanswered one."""
        self._keep(exchange, frame)
        if self._is_holding and not (self.is_in_pass or self.out):
            self.write_later(self)

    def answer_with(self, exchange: object, frame: bytearray | Pieces) -> None:
        """Write an answer that was encoded in the thread or in steps, or keep it until all earlier requests are answered."""
        self._keep(exchange, Pieces.of(frame) if isinstance(frame, bytearray) and len(frame) > PIECE_BYTES else frame)
        self.release()
        self.write_later(self)

    def park(self, key: Hashable, forget: Callable[[], None]) -> None:
        """Call ``forget`` if the connection ends before ``unpark(key)``. For waits that only read."""
        self._parked[key] = forget

    def unpark(self, key: Hashable) -> None:
        """The wait is over."""
        self._parked.pop(key, None)

    def holds(self, exchange: object) -> bool:
        """Return whether a given answer is still in memory: it waits for earlier answers, or for the peer to read."""
        return not self.is_closed and (self._is_stalled or self._long is not None or exchange in self.kept)

    def when_sent(self, exchange: object, call: Callable[[], None]) -> None:
        """Call ``call`` once a given answer is no longer in memory. Not if the connection ends before."""
        self._flush()
        if self.holds(exchange):
            self._when_sent.append((exchange, call))
        else:
            call()

    def write(self) -> None:
        """Write all ready answers to the transport in one call."""
        self._flush()
        if self._is_paused or self._is_holding:
            self._go_on()

    def use_up(self, units: int = QUANTUM) -> None:
        """Charge work to the connection that its bytes do not show: ``UNITS_PER_US`` per microsecond."""
        self._used += units
        if self._used > EXPENSIVE:
            self._needs_step = True

    def decoded(self) -> None:
        """The large request has been decoded and handled."""
        self.is_decoding = False
        self.write_later(self)

    def refuse(self, why: Exception) -> None:
        """Close the connection for what the peer sent."""
        self.report("connection-refused", peer=self.peer, why=str(why), action="closed: no answer could be read")
        self._backlog.clear()
        self.unanswered.clear()
        self.kept.clear()
        self.close()

    @property
    def is_connected(self) -> bool:
        """Whether it has a transport: with TLS, only once the handshake is over."""
        return self._transport is not None

    @property
    def is_reading(self) -> bool:
        """Whether bytes of the peer are read at the moment."""
        return not self._is_paused

    @property
    def is_mid_request(self) -> bool:
        """Whether the last request has not arrived completely."""
        return self._frames.held > 0

    @property
    def has_waiting(self) -> bool:
        """Whether requests that have arrived completely wait."""
        return bool(self._backlog or self.undecoded)

    @property
    def is_stranger(self) -> bool:
        """Whether its login is not done. A connection that authenticates again is no stranger."""
        return self.login is not None and self._dispatch is self.login and self.principal == ANONYMOUS

    @property
    def is_owed(self) -> bool:
        """Whether the client is authenticated and waits for the server. Not if it does not read its answers."""
        return self.principal != ANONYMOUS and not self._is_stalled and (self.has_waiting or self._is_paused)

    def hold_back(self) -> None:
        """Read nothing until the requests that wait have been handled."""
        self._is_held_back = True
        self._balance()

    def unhandled_bytes(self) -> int:
        """Return the number of bytes received of requests that are not handled."""
        return self._frames.held + sum(map(len, self.undecoded)) + sum(map(len, self._backlog))

    @property
    def peer(self) -> str:
        """The peer's address, for log lines."""
        return f"{self.peer_host}:{self.peer_port}"

    def was_used(self) -> bool:
        """Return whether a byte was received or sent since the last call."""
        unsent = self._transport.get_write_buffer_size() if self._is_stalled and self._transport is not None else 0
        was_used = self._is_used or unsent != self._unsent_bytes
        self._is_used, self._unsent_bytes = False, unsent
        return was_used

    def stop_reading(self) -> None:
        """Accept no more requests. Requests already accepted are still answered."""
        self._is_ending = True
        self._balance()

    def abort(self) -> None:
        """Close at once, discarding unsent answers and a request that is not decoded. For a peer that does not read."""
        self.undecoded.clear()
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Write the ready answers and close the connection."""
        self.is_closed = True
        self._flush()
        while self._long is not None and self._long.left:
            self._write_out(self._long.left.pop())
        if self._transport is not None:
            self._transport.close()

    def may_answer(self) -> bool:
        """Return whether this process may answer requests now. If not, close the connection: the client goes elsewhere."""
        if not self._gate.is_open():
            self.refuse(
                LeaseOver("this node does not hear from its controller or its store: others may have changed ACLs and users")
            )
            return False
        return True

    # Internal

    def _go_on(self) -> None:
        """Run the backlog, now or as a step."""
        if not self._needs_step:
            self._run()
        elif self._backlog and not self._is_queued:
            self._is_queued = True
            self._turns.queue(self._step)

    def _step(self) -> None:
        self._is_queued = self._needs_step = False
        if not self.is_closed:
            self._run()

    def _run(self) -> None:
        """Dispatch the frames in the backlog until a limit is reached."""
        if self._gate.is_limited and not self.may_answer():
            return
        self.is_in_pass = True
        self._is_holding = False
        self._used = 0
        backlog, waiting, dispatch, most = self._backlog, self.unanswered, self._dispatch, self._max_waiting
        must_wait = True
        left = REQUESTS_PER_PASS
        try:
            # ``_must_wait``, inlined for speed.
            while not (must_wait := self._is_blocked or self._is_ending or len(waiting) >= most) and backlog:
                frame = backlog.popleft()
                if not dispatch(self, frame):
                    backlog.appendleft(frame)
                    self._hold()
                    break
                left -= 1
                if left <= 0 or self._used > QUANTUM:
                    self._needs_step = True
                    break
        except (ProtocolError, UnservedRequest) as bad:
            self.refuse(bad)
        finally:
            self.is_in_pass = False
        if self.out:
            self._flush()
        if self._needs_step:
            self._rest()
        if must_wait or self._is_paused:
            self._balance()

    def _rest(self) -> None:
        """Go on in a later turn: this pass was expensive."""
        if not self._is_holding:
            self._hold()
            self._go_on()

    def _hold(self) -> None:
        """Let the backlog wait."""
        self._is_holding, self._held_bytes = True, 0
        # Requests that arrived whole are counted from here on, too.
        self._is_counted = True

    def _keep(self, exchange: object, frame: bytearray | Pieces) -> None:
        self.kept[exchange] = frame
        self._kept_bytes += len(frame)
        if self._kept_bytes > KEPT_MAX_BYTES:
            self._block()

    def _block(self) -> None:
        """Determine whether requests may start. Call those that wait until an answer has been sent."""
        is_writing = self._is_stalled or self._long is not None
        self._is_blocked = is_writing or self._is_muted or self._kept_bytes > KEPT_MAX_BYTES
        waiting, self._when_sent = self._when_sent, []
        for exchange, call in waiting:
            if self.holds(exchange):
                self._when_sent.append((exchange, call))
            else:
                call()

    def _flush(self) -> None:
        if self.out and self._transport is not None:
            out, self.out = self.out, bytearray()
            if self._long is None:
                self._write_out(out)
            else:
                self._long.left.append(out)

    def _write_out(self, data: bytearray | memoryview) -> None:
        self._is_used = True
        if self._transport is not None:
            self._transport.write(data)

    def _begin_long(self, pieces: Pieces) -> None:
        """Write what is ready, then the pieces. No request starts until then: a connection has memory for one long answer."""
        self._flush()
        if self._long is None:
            self._long = LongWrite(self._write_out, self._turns, self._end_long)
            if not self._is_stalled:
                self._long.go_on()
        self._long.left.extend(pieces)
        self._block()

    def _end_long(self) -> None:
        if self._long is not None and not self.is_closed:
            self._long = None
            self._block()
            self._go_on()

    def _must_wait(self) -> bool:
        return self._is_blocked or self._is_ending or len(self.unanswered) >= self._max_waiting

    def _balance(self) -> None:
        # While a frame is held back the socket is still read, up to a limit, so that the end of the connection is noticed. The rest
        # of a frame is always read if none is complete.
        is_full = bool(self._backlog) and (not self._is_holding or self._held_bytes > HELD_MAX_BYTES)
        self._is_held_back = self._is_held_back and self.has_waiting
        must_pause = self._must_wait() or is_full or self._is_held_back
        if must_pause != self._is_paused and self._transport is not None and not self.is_closed:
            self._is_paused = must_pause
            if must_pause:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()


def _not_reported(_name: str, **_fields: object) -> None:
    pass


def _not_counted(_connection: Connection, _partial: int, _more: int) -> bool:
    return False
