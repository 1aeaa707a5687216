"""The ends of the partitions that groups consume, sampled over time: files beside the log, which Spark reads, too.

    end-offsets/date=2026-11-24/end-offsets.jsonl     {"at_ms": …, "topic": "orders", "end_offsets": [1042, 7, …]}

A line is a topic at a time, with the end of each partition from 0 on; -1 is unknown. A topic whose ends are as before has no line.
A line without a topic says that the sample is complete. Each day begins with all topics.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.log.day_files import begin_of_day_ms, day_files, day_ms, lines_in

DIRECTORY: Final = "end-offsets"
UNKNOWN: Final = -1
FILE: Final = "end-offsets.jsonl"


class Sample(Struct, frozen=True):
    """A line."""

    at_ms: int
    topic: str | None = None
    end_offsets: list[int] | None = None


class EndOffsets:
    """The ends of partitions over time, from samples in their order. ``sampled``: the times of complete ones, if they are known."""

    def __init__(self, samples: Iterable[Sample], sampled: Iterable[int] = ()) -> None:
        # By partition: the times at which it had another end than before, and those ends.
        self._changes: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
        self._sampled = list(sampled)
        self._partitions: dict[str, int] = {}
        for sample in samples:
            if sample.topic is None:
                self._sampled.append(sample.at_ms)
                continue
            count = len(sample.end_offsets or ())
            for partition in range(count, self.partitions(sample.topic)):
                # The topic was made again with fewer.
                self._changes.pop((sample.topic, partition), None)
            self._partitions[sample.topic] = count
            for partition, end in enumerate(sample.end_offsets or ()):
                self._add((sample.topic, partition), sample.at_ms, end)
        self.last_ms = self._sampled[-1] if self._sampled else UNKNOWN
        """The time of the last complete sample; -1 without one."""

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

    def sampled(self, topic: str, partition: int, at_ms: int) -> int | None:
        """Return the end of a partition in the last sample before a moment, or of that moment; None if it is unknown.

        The end at the moment itself was not lower.
        """
        times, ends = self._changes.get((topic, partition), ([], []))
        index = bisect_right(times, at_ms)
        return ends[index - 1] if index else None

    def partitions(self, topic: str) -> int:
        """Return the number of partitions of a topic in its last sample; 0 without one."""
        return self._partitions.get(topic, 0)

    def sampled_ms(self, samples: int) -> int:
        """Return the time of the first of the last complete samples; -1 without one."""
        return self._sampled[-samples:][0] if self._sampled else UNKNOWN

    def begin(self, topic: str, partition: int) -> tuple[int, int] | None:
        """Return when the end of a partition is known for the first time, and what it is then; None if it never is."""
        times, ends = self._changes.get((topic, partition), ([], []))
        return (times[0], ends[0]) if times else None

    def earlier(self, topic: str, partition: int, samples: int) -> int | None:
        """Return the end of a partition in the first of the last samples that has it; None if none has."""
        times, _ = self._changes.get((topic, partition), ([], []))
        return self.sampled(topic, partition, max(times[0], self.sampled_ms(samples))) if times and self._sampled else None

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


def read_samples(data_dir: Path, since_ms: int = 0) -> Iterator[Sample]:
    """Return the samples of a directory, from the day of a moment on, in order."""
    first_ms = begin_of_day_ms(since_ms)
    for day, path in sample_files(data_dir):
        if day_ms(day) >= first_ms:
            for sample, _ in lines_in(path, Sample):
                yield sample


def sample_files(data_dir: Path) -> list[tuple[str, Path]]:
    """Return the days of which a directory has samples (``2026-11-24``), each with its file, in order."""
    return day_files(data_dir / DIRECTORY, FILE)
