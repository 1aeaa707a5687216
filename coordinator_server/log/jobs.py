"""How processes other than the server's loops find a log."""

from __future__ import annotations

from typing import Final, NamedTuple

CONTROL_SOCKET: Final = "control.sock"
"""Where the server that has a log is asked: a Unix socket beside the log."""


class Holder(NamedTuple):
    """The process that has a log: None if its pid is unknown. ``job`` is empty for a server."""

    pid: int | None
    job: str = ""

    def __str__(self) -> str:
        return f"process {self.pid or 'unknown'}" + (f", a job ({self.job})" if self.job else "")


class Cleanable(NamedTuple):
    """The bytes of a shard after its newest layer (dirty), and the bytes of records in that layer (clean)."""

    dirty: int
    clean: int

    @property
    def ratio(self) -> float:
        """The dirty part of all bytes, as Kafka's log cleaner computes it."""
        return self.dirty / (self.dirty + self.clean) if self.dirty else 0.0
