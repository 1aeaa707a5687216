"""A request that is not answered yet: its position in the order of its connection, and the encoding of its answer."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, ClassVar

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.served_api import ServedApi, Touched
from protocol.error_codes import ErrorCode
from protocol.fields import Message

_LENGTH = Struct(">i")
_PREFIX = Struct(">ii")  # length, correlation id


class UnansweredRequest:
    """One request. ``reply.py`` creates it, and has the ways to answer it."""

    __slots__ = ("api", "context", "correlation_id", "frame", "is_answered", "is_behind_writes", "is_free", "request", "touched")

    is_large: ClassVar[bool] = False
    """While a large request is unanswered, nothing but FREE ones starts behind it: a connection has memory for one."""
    api: ServedApi
    context: RequestContext
    correlation_id: int
    request: Any
    frame: bytearray | None
    """The encoded answer, while an earlier request is not answered."""
    is_answered: bool
    is_behind_writes: bool
    """The request reads the effects of unanswered WRITEs. Set by the dispatcher if it must, by a handler if it does."""
    is_free: bool
    """Set by a handler: the request is FREE from here on, whatever the class of its API is."""
    touched: Touched | None
    """What the request touches, if its API says so. None: anything."""

    def refusal(self, error: ErrorCode, message: str | None) -> Message:
        """Return the response for an error, in the form of the API. May be called in a thread."""
        return self.api.refuse(self.context, self.request, error, message)

    def worked(self, ns: int) -> None:
        """Count time of the loop or the thread that the request took beside its dispatch. Do nothing: there is no quota."""

    def when_due(self, _size: int, start: Callable[[], None]) -> None:
        """Start the work on a large request of so many bytes: at once, because there is no quota."""
        start()

    def decoded(self, ns: int) -> None:
        """Count time of the thread for decoding a large request. Do nothing: there is no quota."""

    def encoded(self, response: Any) -> bytearray:
        """Return the response's frame. May be called in a thread."""
        frame = bytearray()
        self.encode(response, frame)
        return frame

    def encode(self, response: Any, out: bytearray) -> None:
        """Append the response's frame. If the codec raises, nothing is appended and its exception is raised."""
        start = len(out)
        out += _PREFIX.pack(0, self.correlation_id)
        version = self.context.api_version
        if self.api.has_flexible_response_header[version]:
            out.append(0)
        api = self.api
        try:
            api.encode[version](response, out)
        except BaseException:
            del out[start:]
            raise
        if api.count_errors is not None:
            api.count_errors(response, api.tallies[version])
        _LENGTH.pack_into(out, start, len(out) - start - 4)
