"""The times of requests, which a tally counts."""

from __future__ import annotations

import time
from typing import Any

from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.tally import Tally
from protocol.error_codes import ErrorCode


class Timing:
    """Observes a request that is measured: counts the time until its answer is encoded."""

    __slots__ = ("_began_s", "_tally")

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._began_s = time.monotonic()

    def worked(self, exchange: Exchange[Any], ns: int, /) -> None:
        """Nothing: it is the time that passes."""

    def answered(self, exchange: Exchange[Any], response: Any, error: ErrorCode, /) -> None:
        """Nothing: the answer may be encoded later."""

    def encoded(self, exchange: Exchange[Any], response: Any, out: bytearray, start: int, /) -> None:
        """Count the time."""
        self._tally.count_time(time.monotonic() - self._began_s)
