"""The dispatcher: decodes a frame and runs the handler of its API."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from struct import Struct as Layout
from typing import Any, Final, NamedTuple, TypeAlias

from coordinator_server.machine.provenance import request_origin
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.exchange.api_row import ApiRow, Touched
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.introduction import Introduction
from coordinator_server.server.exchange.tally import Tally
from coordinator_server.server.exchange.timing import Timing
from coordinator_server.server.wire.background import Background
from coordinator_server.server.wire.connection import Connection, UnservedRequest
from coordinator_server.server.wire.order import Order, State, Turn
from protocol.api import API_VERSIONS_KEY
from protocol.error_codes import ErrorCode
from protocol.frames import decode_request_header
from protocol.messages.api_versions import ApiVersionsRequest

# A request header has the API key and version (two bytes each), the correlation id (four bytes), and the client's own fields.
_CORRELATION_ID = Layout(">i")
_AFTER_CORRELATION_ID = 8
_ALONE: Final = Order.ALONE
_ANSWERED: Final = State.ANSWERED
_READ_ONLY: Final = (Order.FREE, Order.READ)

SMALL_FRAME_BYTES: Final = 1 << 9
"""Larger requests are charged to their connection (``ApiRow.units_per_byte``)."""
LARGE_FRAME_BYTES: Final = 1 << 15
"""Larger requests are decoded beside the loop: the smallest elements take up to 5 ms per 32 KiB."""
MAX_HEADER_BYTES: Final = 1 << 16
"""A client id has at most 32 KiB. The rest is for tagged fields, of which none are known."""
MAX_KNOWN_HEADER_BYTES: Final = 512
"""Larger headers are decoded for every request, because a connection keeps one for each API and version."""


RunLarge: TypeAlias = Callable[[Exchange[Any], int, Callable[[], Any], Callable[[Any, int], None]], None]
"""Takes a large request, its size in bytes, what decodes it in the thread, and what gets the result and the time that it took."""


class _Denied(NamedTuple):
    """What the thread returns in place of a request that was denied before it was decoded."""

    answer: Any


class Dispatcher:
    """Runs requests by the table of served rows."""

    def __init__(
        self,
        rows: Sequence[ApiRow[Any, Any]],
        background: Background,
        *,
        has_provenance: bool = False,
        run_large: RunLarge | None = None,
    ) -> None:
        """Without ``run_large``, large requests are decoded when they have arrived."""
        self._rows = {row.key: row for row in rows}
        self._run_large = run_large or (lambda _exchange, _size, decode, decoded: background.run(decode, decoded))
        self._has_provenance = has_provenance

    def __call__(self, connection: Connection, frame: bytes, /) -> bool:
        """Decode one request and run it; not before an earlier one is answered whose effect it must see (``order.py``)."""
        known: Introduction | None = connection.introduced.get(frame[:4])
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
        row, context = known.row, known.context
        is_behind_writes = False
        request: Any = None
        touched = None
        if row.order is not connection.order or row.order is _ALONE:
            if row.touches is not None and len(frame) <= LARGE_FRAME_BYTES:
                request, _ = known.decode(frame, known.position)
                touched = row.touches(request)
            turn = _turn_of(connection, row, touched)
            if turn is Turn.LATER:
                return False
            is_behind_writes = turn is Turn.BEHIND_WRITES
        if len(frame) > SMALL_FRAME_BYTES:
            connection.use_up(row.units_per_byte * len(frame))
        is_large = len(frame) > LARGE_FRAME_BYTES
        if request is None and not is_large:
            request, _ = known.decode(frame, known.position)
        exchange: Exchange[Any] = Exchange(connection, row, context, _CORRELATION_ID.unpack_from(frame, 4)[0], request)
        exchange.is_behind_writes, exchange.touched = is_behind_writes, touched
        tally = known.tally
        if row.observers or not tally.requests & tally.unmeasured:
            _observe(exchange, tally)
        connection.expect(exchange)
        if is_large:
            self._decode_beside(known, frame, exchange)
            return True
        try:
            repeat = row.run(context, request, exchange)
        except Exception as failure:  # noqa: BLE001 - a bug in a handler ends its request alone, and is logged
            exchange.fail_after(failure)
        else:
            # An answer that is given again has no exchange that could be observed.
            if repeat is not None and exchange.observers is None:
                known.remember(frame, repeat, exchange)
        return True

    def _decode_beside(self, known: Introduction, frame: bytes, exchange: Exchange[Any]) -> None:
        """Decode a request in the thread, then handle it."""
        connection = exchange.connection
        exchange.is_large, exchange.state = True, State.DECODING
        connection.is_decoding, connection.order = True, _ALONE
        # Many of these may wait for the thread. If the connection ends, only a request that changes something goes on, as in Kafka.
        frames = connection.undecoded = [frame]
        is_read_only = exchange.row.order in _READ_ONLY
        if is_read_only:
            connection.park(exchange, frames.clear)
        # Not ``known.decode``: it may remember the connection's last request.
        decode, position = known.row.decode[known.context.api_version], known.position
        deny = known.row.deny_unread
        denial = None if deny is None else deny(known.context, frame, position)

        def decode_frame() -> Any:
            frame = frames.pop()
            if denial is not None and (answer := denial.answer(frame, position)) is not None:
                return _Denied(answer)
            return decode(frame, position)[0]

        def decoded(result: Any, took_ns: int) -> None:
            connection.unpark(exchange)
            exchange.worked(took_ns)
            if isinstance(result, Exception):
                if not connection.is_closed:
                    connection.refuse(result)
            elif isinstance(result, _Denied):
                assert denial is not None
                denial.report()
                exchange.state = State.OPEN
                exchange.complete(result.answer)
                connection.decoded()
            elif connection.may_answer() and not (connection.is_closed and is_read_only):
                exchange.state, exchange.request = State.OPEN, result
                began_ns = time.perf_counter_ns()
                try:
                    exchange.row.run(exchange.context, result, exchange)
                except Exception as failure:  # noqa: BLE001 - a bug in a handler ends its request alone, and is logged
                    exchange.fail_after(failure)
                exchange.worked(time.perf_counter_ns() - began_ns)
                connection.decoded()

        self._run_large(exchange, len(frame), decode_frame, decoded)

    def _introduce(self, connection: Connection, frame: bytes) -> Introduction | None:
        """Decode a request header and cache it for later requests of the connection with the same header fields.

        Return None if the request has been answered already. Raises UnservedRequest.
        """
        header, position = decode_request_header(frame if len(frame) <= MAX_HEADER_BYTES else frame[:MAX_HEADER_BYTES])
        version, client_id = header.request_api_version, header.client_id or ""
        row = self._rows.get(header.request_api_key)
        if row is None:
            raise UnservedRequest(f"API key {header.request_api_key} is not served")
        if not row.min_version <= version <= row.max_version:
            if row.key == API_VERSIONS_KEY:
                self._answer_unknown_version(connection, row, client_id, header.correlation_id)
                return None
            raise UnservedRequest(f"{row.name} v{version} is not served, only v{row.min_version} to v{row.max_version}")
        origin = (
            request_origin(row.key, version, client_id, connection.peer_host, connection.principal)
            if self._has_provenance
            else None
        )
        context = RequestContext(client_id, connection.peer_host, row.key, version, connection.principal, origin)
        decode = row.decode[version]
        if row.reader is not None:
            decode = row.reader(version)
            # A reader remembers the last request. A connection has one for each API, whatever versions it uses.
            for other in [each for each, introduction in connection.introduced.items() if introduction.row is row]:
                del connection.introduced[other]
        known = Introduction(frame[_AFTER_CORRELATION_ID:position], position, row, context, decode)
        if len(known.rest) <= MAX_KNOWN_HEADER_BYTES:
            connection.introduced[frame[:4]] = known
        return known

    def _answer_unknown_version(self, connection: Connection, row: ApiRow[Any, Any], client_id: str, correlation_id: int) -> None:
        """Refuse a newer ApiVersions request with a version 0 answer that has the supported versions (KIP-511)."""
        oldest = RequestContext(client_id, connection.peer_host, row.key, 0)
        exchange: Exchange[Any] = Exchange(connection, row, oldest, correlation_id, ApiVersionsRequest())
        connection.expect(exchange)
        exchange.fail(ErrorCode.UNSUPPORTED_VERSION)


def _observe(exchange: Exchange[Any], tally: Tally) -> None:
    """Let all that observe requests of the exchange's row observe this one."""
    if not tally.requests & tally.unmeasured:
        exchange.observe(Timing(tally))
    for observe in exchange.row.observers:
        exchange.observe(observe(exchange))


def _turn_of(connection: Connection, row: ApiRow[Any, Any], touched: Touched | None) -> Turn:
    """Return when the next request of a connection may start, which is one of ``row`` and touches ``touched``, or anything."""
    order = row.order
    if order is Order.FREE:
        return Turn.NOW
    if connection.is_decoding:
        return Turn.LATER
    is_alike = can_overtake = True
    has_large = False
    can_read = row.can_read_behind_writes
    each: Exchange[Any]
    for each in reversed(connection.unanswered):
        other: ApiRow[Any, Any] = each.row
        if each.state is _ANSWERED or each.is_free or other.order is Order.FREE:
            continue
        if each.is_behind_writes and other is row and can_read and not each.is_large:
            # It has started behind all earlier ones, and nothing but WRITEs behind it.
            return Turn.BEHIND_WRITES
        has_large = has_large or each.is_large
        if touched is None or each.touched is None:
            is_alike = is_alike and other.order is order and order is not Order.ALONE and not each.is_behind_writes
        else:
            is_alike = is_alike and touched.isdisjoint(each.touched)
        can_read = can_read and (other.order is Order.WRITE or other is row)
        can_overtake = can_overtake and other.name in row.overtakes
    if not has_large:
        if is_alike:
            connection.order = order
            return Turn.NOW
        if can_read:
            return Turn.BEHIND_WRITES
    return Turn.NOW if can_overtake else Turn.LATER
