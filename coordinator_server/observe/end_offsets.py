"""Writes the samples of end offsets to their files, which ``pipeline/lag/end_offsets.py`` reads and describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from coordinator_server.pipeline.lag.end_offsets import DATE, DIRECTORY, FILE, Sample


class EndOffsetsWriter:
    """Appends samples. One that is torn by a kill is a line that nobody can read, and is left out by readers."""

    def __init__(self, data_dir: Path) -> None:
        self._directory = data_dir / DIRECTORY
        self._before: dict[str, list[int]] = {}
        self._day = ""

    def write(self, at_ms: int, ends: Mapping[str, Sequence[int]]) -> None:
        """Append a sample. Raises OSError."""
        day = datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
        if day != self._day:
            self._day, self._before = day, {}
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
