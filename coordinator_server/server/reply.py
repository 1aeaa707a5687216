"""The Reply of a client's request, as API handlers get it: for small and for large requests, with and without a log line."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Generic, TypeVar

import structlog

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.connection import Connection
from coordinator_server.server.served_api import ServedApi
from coordinator_server.server.unanswered import UnansweredRequest
from protocol.error_codes import ErrorCode

R = TypeVar("R")

log = structlog.get_logger(__name__)


class PendingReply(UnansweredRequest, Generic[R]):
    """The Reply of one request of a connection."""

    __slots__ = ("connection",)

    def __init__(
        self, connection: Connection, api: ServedApi, context: RequestContext, correlation_id: int, request: Any
    ) -> None:
        self.connection = connection
        self.api = api
        self.context = context
        self.correlation_id = correlation_id
        self.request = request
        self.frame = None
        self.is_answered = self.is_behind_writes = self.is_free = False
        self.touched = None

    def complete(self, response: R, /) -> None:
        """Answer the request with ``response``."""
        self.connection.answer(self, response)

    def complete_beside(self, response: R, /) -> None:
        """Answer the request with ``response``, which is encoded in the thread. Nothing may change it afterwards."""
        self.settle()
        self.connection.answer_beside(self, lambda: self.encoded(response))

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Answer the request with an error, in the form of its API."""
        self.connection.answer(self, self.refusal(error, message))

    def settle(self) -> None:
        """Decide what the answer says besides its response. Called in the loop, before ``encoded`` is called in the thread."""

    def fail_after(self, failure: Exception) -> None:
        """Answer the request with the error for what its handler raised: a CoordinatorError, or a bug, which is logged."""
        error, message = self.error_for(failure)
        if not self.is_answered or isinstance(failure, CoordinatorError):
            self.fail(error, message)

    def error_for(self, failure: Exception) -> tuple[ErrorCode, str | None]:
        """Return the error and the message for what the work on the request raised. A bug is logged."""
        if isinstance(failure, CoordinatorError):
            return failure.error, failure.message
        log.error("request-failed", api=self.api.name, version=self.context.api_version, exc_info=failure)
        return ErrorCode.UNKNOWN_SERVER_ERROR, None


class LargeReply(PendingReply[R]):
    """The Reply of a large request: the answer, which may be about all its parts, is encoded beside the loop."""

    __slots__ = ()
    is_large: ClassVar[bool] = True

    def complete(self, response: R, /) -> None:
        """Answer the request with ``response``, which nothing may change afterwards."""
        self.complete_beside(response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Answer the request with an error, in the form of its API."""
        self.settle()
        self.connection.answer_beside(self, lambda: self.encoded(self.refusal(error, message)))


class TimedReply(PendingReply[Any]):
    """A reply that counts the time from the request's arrival to its answer."""

    __slots__ = ("_started",)

    def __init__(
        self, connection: Connection, api: ServedApi, context: RequestContext, correlation_id: int, request: Any
    ) -> None:
        super().__init__(connection, api, context, correlation_id, request)
        self._started = time.monotonic()

    def encode(self, response: Any, out: bytearray) -> None:
        """Append the response's frame and count the time."""
        super().encode(response, out)
        self.api.tallies[self.context.api_version].count_time(time.monotonic() - self._started)


class LoggedReply(TimedReply):
    """A reply that logs one line per request when it is answered. Used at debug level."""

    __slots__ = ()

    def encode(self, response: Any, out: bytearray) -> None:
        """Append the response's frame and log the request."""
        super().encode(response, out)
        log_request(self, response, self._started)


class LoggedLargeReply(LargeReply[Any]):
    """The same for a large request. Compiled classes have one base."""

    __slots__ = ("_started",)

    def __init__(
        self, connection: Connection, api: ServedApi, context: RequestContext, correlation_id: int, request: Any
    ) -> None:
        super().__init__(connection, api, context, correlation_id, request)
        self._started = time.monotonic()

    def encode(self, response: Any, out: bytearray) -> None:
        """Append the response's frame and log the request."""
        super().encode(response, out)
        log_request(self, response, self._started)


def log_request(reply: PendingReply[Any], response: Any, started: float) -> None:
    """Log a request that is answered. ``started`` is in the seconds of ``time.monotonic``."""
    log.debug(
        "request",
        api=reply.api.name,
        version=reply.context.api_version,
        client_id=reply.context.client_id,
        peer=f"{reply.connection.peer_host}:{reply.connection.peer_port}",
        group_id=getattr(reply.request, "group_id", None),
        error=ErrorCode(getattr(response, "error_code", 0)).name,
        ms=round((time.monotonic() - started) * 1000, 1),
    )
