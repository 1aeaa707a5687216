"""Progress on a terminal: one line that is written over. In a pipe nothing is said."""

from __future__ import annotations

import time
from typing import TextIO

from coordinator_server.pipeline.compact import Progress


class TerminalProgress(Progress):
    """Shards done, records per second, and the bytes there are to read."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shards = 0
        self._of = ""
        self._started_s = 0.0

    def start(self, shards: int, size: int = 0) -> None:
        self._shards = shards
        self._of = f" of {size / 1e6:,.1f} MB" if size else ""
        self._started_s = time.monotonic()
        self.advance(0, 0)

    def advance(self, shards: int, records: int) -> None:
        rate = records / max(time.monotonic() - self._started_s, 0.001)
        self._stream.write(f"\r\x1b[K{shards}/{self._shards} shards{self._of}, {records:,} records, {rate:,.0f}/s")
        self._stream.flush()

    def stop(self) -> None:
        self._stream.write("\r\x1b[K")
        self._stream.flush()


def progress_on(stream: TextIO) -> Progress:
    """What fits the stream."""
    return TerminalProgress(stream) if stream.isatty() else Progress()
