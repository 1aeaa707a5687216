"""When the jobs of a schedule run: at regular times, if the log has grown enough or the last run is too long ago.

Reads file names and sizes only. A server writes what is durable to the segments within about a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from coordinator_server.log.opening import job_shards

MIN_BYTES: Final = 1 << 20
LONGEST_MS: Final = 24 * 3_600_000

# Bytes of each segment, by shard and name.
Sizes = Mapping[tuple[str, str], int]


class Rule(NamedTuple):
    """Jobs run if at least ``min_bytes`` are new, or if none has run for ``longest_ms``."""

    min_bytes: int = MIN_BYTES
    longest_ms: int = LONGEST_MS


class Schedule:
    """The times of the rounds, and which of them run jobs. Times are ms of a clock that does not jump."""

    def __init__(self, every_ms: int, rule: Rule, now_ms: int) -> None:
        self._every_ms = every_ms
        self._rule = rule
        self._known: Sizes | None = None
        self._last_ms = 0
        self.next_ms = now_ms

    def begin_round(self, now_ms: int) -> None:
        """Set the time of the next round. Rounds that a long one has missed are left out."""
        missed = (now_ms - self.next_ms) // self._every_ms
        self.next_ms += (1 + max(0, missed)) * self._every_ms

    def new_bytes(self, sizes: Sizes) -> int:
        """Return by how many bytes the log has grown since the last round that ran."""
        known = self._known or {}
        return sum(max(0, size - known.get(name, 0)) for name, size in sizes.items())

    def is_due(self, sizes: Sizes, now_ms: int) -> bool:
        """Return whether the jobs have enough to do. The first round always has."""
        if self._known is None or now_ms - self._last_ms >= self._rule.longest_ms:
            return True
        return self.new_bytes(sizes) >= max(1, self._rule.min_bytes)

    def ran(self, sizes: Sizes, now_ms: int) -> None:
        """All jobs of a round have run. ``sizes`` are those before the round."""
        self._known, self._last_ms = dict(sizes), now_ms


def segment_sizes(data_dir: Path) -> dict[tuple[str, str], int]:
    """Return the sizes of all segments. Files that are made or removed meanwhile may be counted or not."""
    return {(shard.name, name): size for shard in job_shards(data_dir) for name, size in shard.segment_sizes().items()}
