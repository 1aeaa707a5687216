"""The exchange: one request of a connection, from its header to the bytes of its answer.

    DECODING ──► OPEN ──► ENCODING ──► ANSWERED
                   └───────────────────────┘

A large request is decoded, and its answer encoded, in the thread (DECODING, ENCODING). Everything else happens in the loop. An
exchange is OPEN while its handler runs, and while its answer waits: for the log, for other members, for time. The frame of one
that is ANSWERED is written, or kept until the earlier requests of the connection are answered.

Handlers get the exchange as their ``Reply``. What looks at exchanges without answering them is an ``Observer``: quotas, times,
the audit log, the log of requests. Most exchanges have none, and pay nothing for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from struct import Struct as Layout
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

import structlog

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.server.wire.connection import Connection
from coordinator_server.server.wire.long_write import Pieces
from coordinator_server.server.wire.order import Order, State
from protocol.error_codes import ErrorCode
from protocol.errors import EncodeError, ProtocolError

R = TypeVar("R")

log = structlog.get_logger(__name__)

LONGEST_FRAME: Final = (1 << 31) - 1
_LENGTH = Layout(">i")
_PREFIX = Layout(">ii")  # length, correlation id


_OPEN: Final = State.OPEN
_ENCODING: Final = State.ENCODING
_ANSWERED: Final = State.ANSWERED


class Observer(Protocol):
    """Looks at one exchange. What it has seen of it is its own state."""

    def worked(self, exchange: Exchange[Any], ns: int, /) -> None:
        """The exchange has taken time of the loop or the thread beside its dispatch."""

    def answered(self, exchange: Exchange[Any], response: Any, error: ErrorCode, /) -> None:
        """The handler has answered, also if the client is gone. Called once, in the loop.

        ``response`` is None if it is the refusal for ``error``, or is made in the thread.
        """

    def encoded(self, exchange: Exchange[Any], response: Any, out: bytearray, start: int, /) -> None:
        """The frame of the answer is in ``out`` from ``start`` on. Called in the thread if the exchange is large."""


Observe: TypeAlias = "Callable[[Exchange[Any]], Observer]"
"""Begins to observe an exchange, before its handler runs. Of a large one, the request is not decoded yet."""


class Handle(Protocol):
    """The handler of a row, bound to a node."""

    def __call__(self, context: RequestContext, request: Any, exchange: Any, /) -> Repeat | None: ...


class Beside(Generic[R]):
    """A response that is made in the thread, from data that nothing changes."""

    def __init__(self, make: Callable[[], R]) -> None:
        self.make = make


def _nothing() -> None:
    pass


class Exchange(Generic[R]):
    """One request of a connection, and its answer."""

    __slots__ = (
        "amendments",
        "connection",
        "context",
        "correlation_id",
        "is_behind_writes",
        "is_free",
        "is_large",
        "observers",
        "request",
        "row",
        "state",
        "touched",
    )

    amendments: list[Callable[[Any], Any]] | None
    is_behind_writes: bool
    """The request reads the effects of unanswered WRITEs. Set by the dispatcher if it must, by a handler if it does."""
    is_free: bool
    """Set by a handler: the request is FREE from here on, whatever the class of its API is."""
    is_large: bool
    """While a large request is unanswered, nothing but FREE ones starts behind it: a connection has memory for one."""
    observers: list[Observer] | None
    state: State
    row: Any
    """The ``ApiRow``, whose handler gets this exchange."""
    touched: frozenset[str | int] | None
    """What the request touches, if its API says so. None: anything."""

    def __init__(self, connection: Connection, row: Any, context: RequestContext, correlation_id: int, request: Any) -> None:
        self.connection = connection
        self.row = row
        self.context = context
        self.correlation_id = correlation_id
        self.request = request
        self.state = _OPEN
        self.is_large = self.is_behind_writes = self.is_free = False
        self.touched = None
        self.amendments = None
        self.observers = None

    def read_latest(self) -> None:
        """The request reads what is not durable. Later READs of its connection must see as much."""
        self.is_behind_writes = True
        self.connection.order = Order.ALONE

    # The answer, in the loop

    def complete(self, response: R, /) -> None:
        """Answer the request with ``response``. If the request is large, nothing may change the response afterwards."""
        if self.is_large:
            self.complete_beside(response)
            return
        if self.observers is not None:
            self._notify_answered(response, ErrorCode.NONE)
        self._answer(response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Answer the request with an error, in the form of its API."""
        if self.is_large:
            self.fail_beside(error, message)
            return
        if self.observers is not None:
            self._notify_answered(None, error)
        self._answer(self._refusal(error, message))

    def fail_after(self, failure: Exception) -> None:
        """Answer the request with the error for what its handler raised: a CoordinatorError, or a bug, which is logged."""
        error, message = self.error_for(failure)
        if self.state is _OPEN or isinstance(failure, CoordinatorError):
            self.fail(error, message)

    def error_for(self, failure: Exception) -> tuple[ErrorCode, str | None]:
        """Return the error and the message for what the work on the request raised. A bug is logged."""
        if isinstance(failure, CoordinatorError):
            return failure.error, failure.message
        log.error("request-failed", api=self.row.name, version=self.context.api_version, exc_info=failure)
        return ErrorCode.UNKNOWN_SERVER_ERROR, None

    def _answer(self, response: Any) -> None:
        """Write the answer, or keep it until all earlier requests of the connection are answered."""
        connection = self.connection
        assert self.state is not _ANSWERED or connection.is_closed, f"{self.row.name} answered twice"
        self.state = _ANSWERED
        if connection.is_closed:
            return
        try:
            if connection.unanswered[0] is self:
                is_due = connection.is_in_pass or bool(connection.out)
                self.encode(response, connection.out)
                connection.unanswered.popleft()
                if connection.kept:
                    connection.release()
                if not is_due:
                    connection.write_later(connection)
            else:
                connection.keep(self, self.encoded(response))
        except ProtocolError as error:
            self._not_encodable(error)

    def _not_encodable(self, error: Exception) -> None:
        if not self.connection.is_closed:
            log.error("response-not-encodable", api=self.row.name, version=self.context.api_version, exc_info=error)
            self.connection.close()

    # The answer, encoded in the thread

    def complete_beside(self, response: R | Beside[R], done: Callable[[], None] = _nothing) -> None:
        """Answer the request with ``response``, which nothing may change afterwards. Then call ``done``, always."""
        if isinstance(response, Beside):
            self._answer_beside(None, ErrorCode.NONE, response.make, done)
        else:
            self._answer_beside(response, ErrorCode.NONE, lambda: response, done)

    def fail_beside(self, error: ErrorCode, message: str | None = None, done: Callable[[], None] = _nothing) -> None:
        """Answer the request with an error. Then call ``done``, always."""
        self._answer_beside(None, error, lambda: self._refusal(error, message), done)

    def _answer_beside(self, response: Any, error: ErrorCode, make: Callable[[], Any], done: Callable[[], None]) -> None:
        assert self.state is _OPEN or self.connection.is_closed, f"{self.row.name} answered twice"
        self.state = _ENCODING
        if self.observers is not None:
            self._notify_answered(response, error)
        self.connection.background.run(lambda: self.encoded(make()), partial(self._encoded_beside, done))

    def _encoded_beside(self, done: Callable[[], None], frame: bytearray | Exception, took_ns: int) -> None:
        self.worked(took_ns)
        if isinstance(frame, Exception):
            self._not_encodable(frame)
        elif not self.connection.is_closed:
            self.state = _ANSWERED
            self.connection.answer_with(self, frame)
        done()

    # The answer, encoded in steps (``long_answer.py``)

    def complete_in_pieces(self, response: R, pieces: Pieces, head_of: Callable[[bytearray], bytearray]) -> None:
        """Answer the request with ``pieces``. ``head_of`` returns what comes before them, from the frame of ``response``."""
        assert self.state is _OPEN or self.connection.is_closed, f"{self.row.name} answered twice"
        self.state = _ANSWERED
        if self.observers is not None:
            self._notify_answered(response, ErrorCode.NONE)
        if self.connection.is_closed:
            return
        try:
            head = head_of(self.encoded(response))
            size = len(head) + len(pieces) - _LENGTH.size
            if size > LONGEST_FRAME:
                raise EncodeError(f"{size} bytes are more than a frame may have")
            _LENGTH.pack_into(head, 0, size)
        except ProtocolError as error:
            self._not_encodable(error)
        else:
            pieces.prepend(head)
            self.connection.answer_with(self, pieces)

    # What others add

    def amend(self, amendment: Callable[[Any], Any]) -> None:
        """Pass the answer, also a refusal, through ``amendment`` before it is encoded. The last amendment is applied first."""
        if self.amendments is None:
            self.amendments = [amendment]
        else:
            self.amendments.append(amendment)

    def observe(self, observer: Observer) -> None:
        """Let ``observer`` look at the exchange from here on."""
        if self.observers is None:
            self.observers = [observer]
        else:
            self.observers.append(observer)

    def worked(self, ns: int) -> None:
        """Count time of the loop or the thread that the request took beside its dispatch."""
        if self.observers is not None:
            for observer in self.observers:
                observer.worked(self, ns)

    def _notify_answered(self, response: Any, error: ErrorCode) -> None:
        assert self.observers is not None
        for observer in self.observers:
            observer.answered(self, response, error)

    # The bytes of the answer

    def encoded(self, response: Any) -> bytearray:
        """Return the response's frame. May be called in the thread."""
        frame = bytearray()
        self.encode(response, frame)
        return frame

    def encode(self, response: Any, out: bytearray) -> None:
        """Append the response's frame. If the codec raises, nothing is appended and its exception is raised."""
        start = len(out)
        out += _PREFIX.pack(0, self.correlation_id)
        row, version = self.row, self.context.api_version
        if row.has_flexible_response_header[version]:
            out.append(0)
        try:
            row.encode[version](response if self.amendments is None else self.amended(response), out)
        except BaseException:
            del out[start:]
            raise
        if row.count_errors is not None:
            row.count_errors(response, row.tallies[version])
        _LENGTH.pack_into(out, start, len(out) - start - 4)
        if self.observers is not None:
            for observer in self.observers:
                observer.encoded(self, response, out, start)

    def amended(self, response: Any) -> Any:
        """Return a response with what others have added."""
        for amendment in reversed(self.amendments or ()):
            response = amendment(response)
        return response

    def _refusal(self, error: ErrorCode, message: str | None) -> Any:
        """Return the response for an error, in the form of the API. May be called in the thread."""
        return self.row.refuse(self.context, self.request, error, message)
