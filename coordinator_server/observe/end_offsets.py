"""Writes the samples of end offsets to their files, which ``pipeline/lag/end_offsets.py`` reads and describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from coordinator_server.log.day_files import append_lines, day_of, remove_old
from coordinator_server.pipeline.lag.end_offsets import DIRECTORY, FILE, Sample


class EndOffsetsWriter:
    """Appends samples."""

    def __init__(self, data_dir: Path, keep_days: int = 0) -> None:
        """Keep the files of ``keep_days`` days besides the present one; 0 keeps all."""
        self._keep_days = keep_days
        self._directory = data_dir / DIRECTORY
        self._before: dict[str, list[int]] = {}
        self._day = ""

    def write(self, at_ms: int, ends: Mapping[str, Sequence[int]]) -> None:
        """Append a sample. Raises OSError."""
        day = day_of(at_ms)
        if day != self._day:
            # Files of days before are removed, so each day begins with all topics.
            self._day, self._before = day, {}
            if self._keep_days:
                remove_old(self._directory, FILE, at_ms, self._keep_days)
        now = {topic: list(offsets) for topic, offsets in ends.items()}
        lines = [Sample(at_ms, topic, offsets) for topic, offsets in now.items() if self._before.get(topic) != offsets]
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in (*lines, Sample(at_ms)))
        append_lines(self._directory, day, FILE, data)
        self._before = now
