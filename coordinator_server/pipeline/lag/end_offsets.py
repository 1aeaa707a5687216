"""The ends of the partitions that groups consume, sampled over time: files beside the log, which Spark reads, too.

    end-offsets/date=2026-11-24/end-offsets.jsonl     {"at_ms": …, "topic": "orders", "end_offsets": [1042, 7, …]}

A line is a topic at a time, with the end of each partition from 0 on; -1 is unknown. A topic whose ends are as before has no line.
A line without a topic says that the sample is complete. Each day begins with all topics.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

DIRECTORY: Final = "end-offsets"
UNKNOWN: Final = -1
_FILE: Final = "end-offsets.jsonl"
_DATE: Final = "date="
_DAY_MS: Final = 86_400_000


class Sample(Struct, frozen=True):
    """A line."""

    at_ms: int
    topic: str | None = None
    end_offsets: list[int] | None = None


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
        path = self._directory / f"{_DATE}{day}" / _FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            end = file.seek(0, 2)
            if end:
                file.seek(end - 1)
                data = data if file.read(1) == b"\n" else b"\n" + data
            file.write(data)
        self._before = now


class EndOffsets:
    """The samples of a directory, from the day of a moment on."""

    def __init__(self, data_dir: Path, since_ms: int = 0) -> None:
        # By partition: the times at which it had another end than before, and those ends.
        self._changes: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
        self._sampled: list[int] = []
        for sample in _samples(data_dir, since_ms):
            if sample.topic is None:
                self._sampled.append(sample.at_ms)
                continue
            for partition, end in enumerate(sample.end_offsets or ()):
                self._add((sample.topic, partition), sample.at_ms, end)

    @property
    def last_ms(self) -> int:
        """The time of the last complete sample; -1 without one."""
        return self._sampled[-1] if self._sampled else UNKNOWN

    def at(self, topic: str, partition: int, at_ms: int) -> int | None:
        """Return the end of a partition at a moment, evenly spread between two samples; None if it is unknown."""
        times, ends = self._changes.get((topic, partition), ([], []))
        index = bisect_right(times, at_ms)
        if index == 0 or at_ms > self.last_ms:
            return None
        if index == len(ends):
            return ends[-1]
        before_ms = self._sample_before(times[index])
        part = max(0.0, (at_ms - before_ms) / (times[index] - before_ms))
        return ends[index - 1] + int((ends[index] - ends[index - 1]) * part)

    def written_ms(self, topic: str, partition: int, offset: int) -> float | None:
        """Return when the record at an offset was written, evenly spread between two samples; None if it is unknown."""
        times, ends = self._changes.get((topic, partition), ([], []))
        index = bisect_right(ends, offset)
        if not 0 < index < len(ends):
            return None
        before_ms = self._sample_before(times[index])
        return before_ms + (times[index] - before_ms) * (offset - ends[index - 1]) / (ends[index] - ends[index - 1])

    def _sample_before(self, at_ms: int) -> int:
        """Return the time of the sample before a sample: there the end was still the one before."""
        return self._sampled[max(0, bisect_left(self._sampled, at_ms) - 1)] if self._sampled else at_ms - 1

    def _add(self, partition: tuple[str, int], at_ms: int, end: int) -> None:
        times, ends = self._changes.setdefault(partition, ([], []))
        if end == UNKNOWN or (ends and ends[-1] == end):
            return
        if ends and end < ends[-1]:
            # Truncated, or made again: what was before says nothing of it.
            times.clear()
            ends.clear()
        times.append(at_ms)
        ends.append(end)


def _samples(data_dir: Path, since_ms: int) -> Iterator[Sample]:
    first = datetime.fromtimestamp(max(0, since_ms) / 1000, UTC).date().isoformat()
    for path in sorted((data_dir / DIRECTORY).glob(f"{_DATE}*/{_FILE}")):
        if path.parent.name.removeprefix(_DATE) < first:
            continue
        with path.open("rb") as lines:
            for line in lines:
                try:
                    yield msgspec.json.decode(line, type=Sample)
                except msgspec.DecodeError:
                    continue
