"""Observes the requests of a loop with request quotas:
an answer says for how long its client has to wait (``throttle_time_ms``, KIP-219).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from struct import Struct as Layout
from typing import Any, Final

from msgspec.structs import replace

from coordinator_server.server.exchange.api_row import ApiRow, observed
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.throttle_fields import MOVING, ThrottleFields
from coordinator_server.server.guard.request_quotas import Meter
from coordinator_server.server.wire.background import Background
from protocol.error_codes import ErrorCode

_THROTTLE_TIME: Final = Layout(">i")

NS_PER_BYTE: Final = 150
"""What a large request is taken to cost before it is decoded: as much as one of the smallest elements
(``dispatch.LARGE_FRAME_BYTES``). So connections of one client do not start more of them together than its quota has room for."""
EXEMPT: Final = frozenset({"WriteTxnMarkers"})
"""APIs of brokers, which are not measured, as in Kafka."""


class Metering:
    """What the observers of a loop share."""

    def __init__(self, meter: Meter, background: Background) -> None:
        self.meter = meter
        self._background = background
        self.fields = ThrottleFields()

    def observed(self, rows: Sequence[ApiRow[Any, Any]]) -> list[ApiRow[Any, Any]]:
        """Return rows whose requests are measured, but for those that are exempt."""
        exempt = [row for row in rows if row.name in EXEMPT]
        return exempt + observed([row for row in rows if row.name not in EXEMPT], self.observe)

    def observe(self, exchange: Exchange[Any]) -> Metered:
        """Begin to measure a request that is being dispatched."""
        self.meter.began(exchange)
        return Metered(self)

    def run_large(
        self, exchange: Exchange[Any], size: int, decode: Callable[[], Any], decoded: Callable[[Any, int], None]
    ) -> None:
        """Decode a large request when its client is within its quota. Until that is done, its time is an estimate."""
        if exchange.row.name in EXEMPT:
            self._background.run(decode, decoded)
            return
        quotas = self.meter.quotas
        wait_ms = quotas.wait_ms(exchange.context)
        if wait_ms:
            self.meter.after(wait_ms, exchange, partial(self.run_large, exchange, size, decode, decoded))
            return
        estimate_ns = size * NS_PER_BYTE
        quotas.record(exchange.context, estimate_ns)

        def counted(result: Any, took_ns: int) -> None:
            quotas.record(exchange.context, -estimate_ns)
            decoded(result, took_ns)

        self._background.run(decode, counted)


class Metered:
    """Observes a request: counts its time, and lets its client wait."""

    __slots__ = ("_metering", "_throttle_ms")

    def __init__(self, metering: Metering) -> None:
        self._metering = metering
        self._throttle_ms = 0

    def worked(self, exchange: Exchange[Any], ns: int, /) -> None:
        """Count time at once: the request may never be answered. What comes after the answer makes later ones wait."""
        self._metering.meter.quotas.record(exchange.context, ns)

    def answered(self, exchange: Exchange[Any], response: Any, error: ErrorCode, /) -> None:
        """Decide for how long the client has to wait, and begin to let it wait.

        If the field has no fixed place, it is set in a copy of the response: other requests may share it.
        """
        meter = self._metering.meter
        self._throttle_ms = meter.settle(exchange.connection, exchange.context, meter.lap_ns(exchange))
        if self._throttle_ms and self._field(exchange) == MOVING:
            exchange.amend(partial(replace, throttle_time_ms=self._throttle_ms))

    def encoded(self, exchange: Exchange[Any], response: Any, out: bytearray, start: int, /) -> None:
        """Write into the answer how long the client has to wait, if the field has a fixed place."""
        if self._throttle_ms:
            where = self._field(exchange)
            if where >= 0:
                _THROTTLE_TIME.pack_into(out, start + where, self._throttle_ms)

    def _field(self, exchange: Exchange[Any]) -> int:
        return self._metering.fields.of(exchange.row)[exchange.context.api_version]
