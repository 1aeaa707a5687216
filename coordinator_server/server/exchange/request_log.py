"""The log of requests: at debug level, one line for each request when it is answered."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

import structlog

from coordinator_server.server.exchange.api_row import ApiRow, observed
from coordinator_server.server.exchange.exchange import Exchange
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)


def logged(rows: Sequence[ApiRow[Any, Any]]) -> Sequence[ApiRow[Any, Any]]:
    """Return rows whose requests are logged, if the log level is debug. Log lines cost more than the request."""
    return observed(rows, RequestLine) if log.is_enabled_for(logging.DEBUG) else rows


class RequestLine:
    """Observes a request, and logs it."""

    __slots__ = ("_began_s",)

    def __init__(self, exchange: Exchange[Any]) -> None:
        self._began_s = time.monotonic()

    def worked(self, exchange: Exchange[Any], ns: int, /) -> None:
        """Nothing: the line has the time until the answer."""

    def answered(self, exchange: Exchange[Any], response: Any, error: ErrorCode, /) -> None:
        """Nothing: the answer may be encoded later."""

    def encoded(self, exchange: Exchange[Any], response: Any, out: bytearray, start: int, /) -> None:
        """Write the line."""
        log.debug(
            "request",
            api=exchange.row.name,
            version=exchange.context.api_version,
            client_id=exchange.context.client_id,
            peer=exchange.connection.peer,
            group_id=getattr(exchange.request, "group_id", None),
            error=ErrorCode(getattr(response, "error_code", 0)).name,
            ms=round((time.monotonic() - self._began_s) * 1000, 1),
        )
