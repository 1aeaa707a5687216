"""The replies of a loop with request-time quotas: an answer says for how long its client has to wait (``throttle_time_ms``, KIP-219)."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from struct import Struct as Layout
from typing import Any, Final

from msgspec.structs import replace

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.connection import Connection
from coordinator_server.server.dispatch import Replies
from coordinator_server.server.reply import LargeReply, PendingReply, log_request
from coordinator_server.server.request_quotas import Meter
from coordinator_server.server.served_api import ServedApi
from coordinator_server.server.throttle_fields import MOVING, NO_FIELD, ThrottleFields

_THROTTLE_TIME: Final = Layout(">i")
_NOT_SETTLED: Final = -1

NS_PER_BYTE: Final = 150
"""What a large request is taken to cost before it is decoded: as much as one of the smallest elements (``dispatch.LARGE_FRAME_BYTES``).
So connections of one client do not start more of them together than its quota has room for."""
EXEMPT: Final = frozenset({"WriteTxnMarkers"})
"""APIs of brokers, which never wait, as in Kafka."""


class Metering:
    """What the replies of a loop share."""

    def __init__(self, meter: Meter, *, logs_requests: bool) -> None:
        self.meter = meter
        self.fields = ThrottleFields()
        self.logs_requests = logs_requests

    @property
    def replies(self) -> Replies:
        """The replies for a dispatcher."""
        return Replies(self._make, self._make, self._make_large, keeps_answers=False)

    def _make(
        self, connection: Connection, api: ServedApi, context: RequestContext, correlation_id: int, request: Any
    ) -> PendingReply[Any]:
        return MeteredReply(connection, api, context, correlation_id, request, self)

    def _make_large(
        self, connection: Connection, api: ServedApi, context: RequestContext, correlation_id: int, request: Any
    ) -> PendingReply[Any]:
        return MeteredLargeReply(connection, api, context, correlation_id, request, self)


class _Measured:
    """The time of one request, and for how long its client has to wait."""

    __slots__ = ("advance_ns", "is_exempt", "is_timed", "metering", "started", "throttle_ms")

    def __init__(self, metering: Metering, reply: PendingReply[Any]) -> None:
        self.metering = metering
        self.throttle_ms = _NOT_SETTLED
        self.is_exempt = reply.api.name in EXEMPT
        # What was counted for the thread before it began.
        self.advance_ns = 0
        tally = reply.api.tallies[reply.context.api_version]
        self.is_timed = not tally.requests & tally.unmeasured
        self.started = time.monotonic() if self.is_timed or metering.logs_requests else 0.0
        metering.meter.began(reply)

    def worked(self, reply: PendingReply[Any], ns: int) -> None:
        """Count time at once: the request may never be answered. What comes after the answer makes later ones wait."""
        if not self.is_exempt:
            self.metering.meter.quotas.record(reply.context, ns)

    def decoded(self, reply: PendingReply[Any], ns: int) -> None:
        """Count the time of the thread in place of its estimate."""
        self.worked(reply, ns - self.advance_ns)
        self.advance_ns = 0

    def when_due(self, reply: PendingReply[Any], size: int, start: Callable[[], None]) -> None:
        """Start the work on a large request when its client is within its quota. Until the thread has begun, its time is an estimate."""
        meter = self.metering.meter
        wait_ms = 0 if self.is_exempt else meter.quotas.wait_ms(reply.context)
        if wait_ms:
            meter.after(wait_ms, reply, partial(self.when_due, reply, size, start))
            return
        self.advance_ns = size * NS_PER_BYTE
        self.worked(reply, self.advance_ns)
        start()

    def settle(self, reply: PendingReply[Any]) -> None:
        """Decide for how long the client has to wait, and begin to let it wait."""
        if self.throttle_ms == _NOT_SETTLED:
            meter = self.metering.meter
            self.throttle_ms = 0 if self.is_exempt else meter.settle(reply.connection, reply.context, meter.lap_ns(reply))

    def field(self, reply: PendingReply[Any]) -> int:
        """Return where the answer says how long the client has to wait, from the start of the frame on."""
        return self.metering.fields.of(reply.api)[reply.context.api_version] if self.throttle_ms else NO_FIELD

    def encoded(self, reply: PendingReply[Any], response: Any) -> None:
        """Count how long the request took, and log it, if that is wanted."""
        if self.is_timed:
            reply.api.tallies[reply.context.api_version].count_time(time.monotonic() - self.started)
        if self.metering.logs_requests:
            log_request(reply, response, self.started)


class MeteredReply(PendingReply[Any]):
    """A reply whose request is measured."""

    __slots__ = ("_measured",)

    def __init__(
        self,
        connection: Connection,
        api: ServedApi,
        context: RequestContext,
        correlation_id: int,
        request: Any,
        metering: Metering,
    ) -> None:
        super().__init__(connection, api, context, correlation_id, request)
        self._measured = _Measured(metering, self)

    def worked(self, ns: int) -> None:
        """Count time of the loop or the thread that the request took beside its dispatch."""
        self._measured.worked(self, ns)

    def settle(self) -> None:
        """Decide for how long the client has to wait."""
        self._measured.settle(self)

    def encode(self, response: Any, out: bytearray) -> None:
        """Append the response's frame. It is settled already if this is the thread."""
        self._measured.settle(self)
        where, start = self._measured.field(self), len(out)
        super().encode(_with_field(response, where, self._measured.throttle_ms), out)
        if where >= 0:
            _THROTTLE_TIME.pack_into(out, start + where, self._measured.throttle_ms)
        self._measured.encoded(self, response)


class MeteredLargeReply(LargeReply[Any]):
    """The same for a large request. Compiled classes have one base."""

    __slots__ = ("_measured",)

    def __init__(
        self,
        connection: Connection,
        api: ServedApi,
        context: RequestContext,
        correlation_id: int,
        request: Any,
        metering: Metering,
    ) -> None:
        super().__init__(connection, api, context, correlation_id, request)
        self._measured = _Measured(metering, self)

    def worked(self, ns: int) -> None:
        """Count time of the loop or the thread that the request took beside its dispatch."""
        self._measured.worked(self, ns)

    def decoded(self, ns: int) -> None:
        """Count time of the thread for decoding the request."""
        self._measured.decoded(self, ns)

    def when_due(self, size: int, start: Callable[[], None]) -> None:
        """Start the work on the request when its client is within its quota."""
        self._measured.when_due(self, size, start)

    def settle(self) -> None:
        """Decide for how long the client has to wait."""
        self._measured.settle(self)

    def encode(self, response: Any, out: bytearray) -> None:
        """Append the response's frame. It is settled already if this is the thread."""
        self._measured.settle(self)
        where, start = self._measured.field(self), len(out)
        super().encode(_with_field(response, where, self._measured.throttle_ms), out)
        if where >= 0:
            _THROTTLE_TIME.pack_into(out, start + where, self._measured.throttle_ms)
        self._measured.encoded(self, response)


def _with_field(response: Any, where: int, throttle_ms: int) -> Any:
    """Return the response, with the time in its field if the field has no fixed place. Other requests may share the response."""
    return replace(response, throttle_time_ms=throttle_ms) if where == MOVING else response
