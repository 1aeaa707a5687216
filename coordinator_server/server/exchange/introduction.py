"""What a connection knows of the requests that it sends to one API in one version: their header, and the last one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange

REPEATED_MAX_BYTES: Final = 1024
"""The size of the largest request, and of the largest answer, that a connection keeps to compare with the next one."""


class Introduction:
    """A decoded request header. ``rest`` is its bytes after the correlation id; the request body starts at ``position``."""

    __slots__ = ("_answer", "_length", "body", "context", "decode", "position", "repeat", "rest", "row", "tally")

    def __init__(
        self,
        rest: bytes,
        position: int,
        row: ApiRow[Any, Any],
        context: RequestContext,
        decode: Callable[[bytes, int], tuple[Any, int]],
    ) -> None:
        self.rest = rest
        self.position = position
        self.row = row
        self.context = context
        self.decode = decode
        self.tally = row.tallies[context.api_version]
        # Of the last request, if its operation has a short way: empty at first.
        self.body = b""
        # What answers it once more, with these bytes before and after the correlation id.
        self.repeat: Repeat | None = None
        self._length = self._answer = b""

    def answer_again(self, frame: bytes) -> bytes:
        """Return the answer to a request if it is the last one again, and gets the same answer; otherwise nothing."""
        repeat = self.repeat
        if repeat is not None and frame[self.position :] == self.body and repeat.run():
            return self._length + frame[4:8] + self._answer
        self.repeat = None
        return b""

    def remember(self, frame: bytes, repeat: Repeat, exchange: Exchange[Any]) -> None:
        """Keep a request. When it comes for the second time, keep its answer, too."""
        body = frame[self.position :]
        if body != self.body:
            self.body = body if len(body) <= REPEATED_MAX_BYTES else b""
            self.repeat = None
        elif body and self.repeat is None:
            encoded = bytes(exchange.encoded(repeat.response))
            if len(encoded) <= REPEATED_MAX_BYTES:
                self.repeat, self._length, self._answer = repeat, encoded[:4], encoded[8:]
