"""Writes the samples of end offsets to their files, which ``pipeline/lag/end_offsets.py`` reads and describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from coordinator_server.pipeline.lag.end_offsets import (
    DATE,
    DAY_MS,
    DIRECTORY,
    FILE,
    Sample,
    begin_of_day_ms,
    day_ms,
    sample_files,
)


class EndOffsetsWriter:
    """Appends samples. One that is torn by a kill is a line that nobody can read, and is left out by readers."""

    def __init__(self, data_dir: Path, keep_days: int = 0) -> None:
        """Keep the files of so many days besides the present one; 0 keeps all."""
        self._data_dir = data_dir
        self._keep_days = keep_days
        self._directory = data_dir / DIRECTORY
        self._before: dict[str, list[int]] = {}
        self._day = ""

    def write(self, at_ms: int, ends: Mapping[str, Sequence[int]]) -> None:
        """Append a sample. Raises OSError."""
        day = datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
        if day != self._day:
            self._day, self._before = day, {}
            self._remove_old(at_ms)
        now = {topic: list(offsets) for topic, offsets in ends.items()}
        lines = [Sample(at_ms, topic, offsets) for topic, offsets in now.items() if self._before.get(topic) != offsets]
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in (*lines, Sample(at_ms)))
        path = self._directory / f"{DATE}{day}" / FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            end = file.seek(0, 2)
            if end:
                file.seek(end - 1)
                data = data if file.read(1) == b"\n" else b"\n" + data
            file.write(data)
        self._before = now

    def _remove_old(self, now_ms: int) -> None:
        """Remove the files of days that are over for longer than they are kept: each day begins with all topics."""
        first_ms = begin_of_day_ms(now_ms) - self._keep_days * DAY_MS
        for day, path in sample_files(self._data_dir) if self._keep_days else ():
            if day_ms(day) < first_ms:
                path.unlink()
                # Something else may be there.
                with suppress(OSError):
                    path.parent.rmdir()
