"""The progress of a job. On a terminal it is one line that is overwritten; in a pipe nothing is printed."""

from __future__ import annotations

import time
from typing import TextIO


class Progress:
    """Receives the progress of a job. This class prints nothing."""

    def start(self, shards: int, size: int = 0) -> None:
        """Note how many shards the job has, and how many bytes it reads; 0 if that is unknown."""

    def advance(self, shards: int, records: int) -> None:
        """Note how many shards are done so far, and how many records were read."""

    def stop(self) -> None:
        """End the display, whether the job succeeded or failed."""


class TerminalProgress(Progress):
    """Shows the number of shards done, the total size, and records per second."""

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
    """Return a progress display if the stream is a terminal, otherwise one that prints nothing."""
    return TerminalProgress(stream) if stream.isatty() else Progress()
