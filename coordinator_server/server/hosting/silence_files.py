"""How long members of groups were silent, measured by the server that they talk to: files beside the log, and no records.

    silences/date=2026-11-24/loop-0.jsonl
    {"until_ms": …, "least_ms": 6000, "covers": [{"since_ms": …, "until_ms": …, "shards": [0, 1, …]}],
     "silences": [{"group_id": "billing", "member_id": "…", "since_ms": …, "until_ms": …}]}

A line is what one loop has measured since the line before, once a minute. It has all silences of at least ``least_ms`` that ended
in the times of its ``covers``, of all members of the groups of these shards. What no cover has is unknown: a crash loses the last
minute. A cover that ``is_over`` ends because the shard is given up: nobody can be silent until it is loaded again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.log.day_files import append_lines, day_files, day_of, lines_in, remove_old

DIRECTORY: Final = "silences"
_ALL_LOOPS: Final = "loop-*.jsonl"


class Cover(Struct, frozen=True, omit_defaults=True):
    """A time in which silences of these shards were measured."""

    since_ms: int
    until_ms: int
    shards: tuple[int, ...]
    is_over: bool = False


class Silent(Struct, frozen=True):
    """A time in which a member did nothing that begins its session anew."""

    group_id: str
    member_id: str
    since_ms: int
    until_ms: int


class Measured(Struct, frozen=True):
    """A line."""

    until_ms: int
    least_ms: int
    covers: list[Cover]
    silences: list[Silent]


class SilenceFiles:
    """The files that one loop of a server appends to. All methods raise OSError."""

    def __init__(self, data_dir: Path, loop: int, keep_days: int) -> None:
        """Keep the files of so many days besides the present one; 0 keeps and writes none."""
        self.keep_days = keep_days
        self._directory = data_dir / DIRECTORY
        self._file = _ALL_LOOPS.replace("*", str(loop))
        self._day = ""

    def write(self, measured: Measured) -> None:
        """Append a line."""
        day = day_of(measured.until_ms)
        if day != self._day:
            self._day = day
            remove_old(self._directory, _ALL_LOOPS, measured.until_ms, self.keep_days)
        append_lines(self._directory, day, self._file, msgspec.json.encode(measured) + b"\n")

    def remove(self, now_ms: int) -> None:
        """Remove all files: what is not measured from now on would seem to be a time without a server."""
        remove_old(self._directory, _ALL_LOOPS, now_ms, -1)


def read_measured(data_dir: Path) -> Iterator[Measured]:
    """Return what all loops have measured, by day."""
    for _, path in day_files(data_dir / DIRECTORY, _ALL_LOOPS):
        for measured, _ in lines_in(path, Measured):
            yield measured
