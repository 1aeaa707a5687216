"""The sampled ends of partitions, from the files beside an observed log (``lag/end_offsets.py``)."""

from __future__ import annotations

import sqlite3
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from coordinator_server.log.day_files import DAY_MS, begin_of_day_ms, day_ms, lines_in
from coordinator_server.pipeline.lag.end_offsets import EndOffsets, Sample, sample_files

FEW: Final = 16
"""So many samples of a topic are read first."""


def take_samples(database: sqlite3.Connection, data_dir: Path) -> bool:
    """Take what the files have that was not taken, and forget the days whose files were removed. The caller has a transaction.

    Return whether there was any of that.
    """
    files = dict(sample_files(data_dir))
    known: dict[str, int] = dict(database.execute("SELECT day, size FROM sample_files").fetchall())
    removed = known.keys() - files.keys()
    for day in removed:
        _forget(database, day)
    has_changed = bool(removed)
    for day, path in files.items():
        size = known.get(day, 0)
        if path.stat().st_size < size:
            _forget(database, day)
            size, has_changed = 0, True
        for sample, end in lines_in(path, Sample, size):
            _write(database, sample)
            size, has_changed = end, True
        database.execute("INSERT OR REPLACE INTO sample_files VALUES (?, ?)", (day, size))
    return has_changed


def _forget(database: sqlite3.Connection, day: str) -> None:
    begin_ms = day_ms(day)
    for table in ("end_offsets", "samples"):
        database.execute(f"DELETE FROM {table} WHERE at_ms BETWEEN ? AND ?", (begin_ms, begin_ms + DAY_MS - 1))
    database.execute("DELETE FROM sample_files WHERE day = ?", (day,))


def _write(database: sqlite3.Connection, sample: Sample) -> None:
    if sample.topic is None:
        database.execute("INSERT OR IGNORE INTO samples VALUES (?)", (sample.at_ms,))
        return
    packed = zlib.compress(array("q", sample.end_offsets or ()).tobytes(), 1)
    database.execute("INSERT OR REPLACE INTO end_offsets VALUES (?, ?, ?)", (sample.topic, sample.at_ms, packed))


def end_offsets(
    database: sqlite3.Connection, topics: Collection[str] | None = None, since_ms: int = 0, until_ms: int = 2**62
) -> EndOffsets:
    """Return the samples of some topics, or of all, from the begin of the day of a moment to another moment."""
    return EndOffsets(_samples(database, topics, begin_of_day_ms(since_ms), until_ms))


def _samples(database: sqlite3.Connection, topics: Collection[str] | None, since_ms: int, until_ms: int) -> Iterator[Sample]:
    for topic in sampled_topics(database) if topics is None else topics:
        rows: Iterable[tuple[int, bytes]] = database.execute(
            "SELECT at_ms, ends FROM end_offsets WHERE topic = ? AND at_ms BETWEEN ? AND ? ORDER BY at_ms",
            (topic, since_ms, until_ms),
        )
        for at_ms, packed in rows:
            yield Sample(at_ms, topic, _unpacked(packed))
    times: Iterable[tuple[int]] = database.execute(
        "SELECT at_ms FROM samples WHERE at_ms BETWEEN ? AND ? ORDER BY at_ms", (since_ms, until_ms)
    )
    for (at_ms,) in times:
        yield Sample(at_ms)


def last_sample_ms(database: sqlite3.Connection) -> int:
    """Return the time of the last complete sample; -1 without one."""
    (found,) = database.execute("SELECT coalesce(max(at_ms), -1) FROM samples").fetchone()
    return int(found)


def sampled_topics(database: sqlite3.Connection) -> list[str]:
    """Return the topics of which there are samples: SQLite looks each up, and does not read them all."""
    rows = database.execute(
        "WITH RECURSIVE found(topic) AS (SELECT min(topic) FROM end_offsets UNION ALL"
        " SELECT (SELECT min(topic) FROM end_offsets e WHERE e.topic > found.topic) FROM found WHERE topic IS NOT NULL)"
        " SELECT topic FROM found WHERE topic IS NOT NULL"
    )
    return [topic for (topic,) in rows]


class LatestEnds:
    """The ends of one topic after another, from the begin of the day of a moment on, each as far back as is wanted.

    Most who ask have read what was written lately, and the samples of a day of all topics are more than there is room for.
    """

    def __init__(self, database: sqlite3.Connection, since_ms: int) -> None:
        self._database = database
        self._since_ms = begin_of_day_ms(since_ms)
        times = database.execute("SELECT at_ms FROM samples WHERE at_ms >= ? ORDER BY at_ms", (self._since_ms,))
        self._sampled = [at_ms for (at_ms,) in times]
        self._topic: str | None = None
        self._count = 0
        self._is_all = False
        self._ends = EndOffsets(())

    def of(self, topic: str, is_enough: Callable[[EndOffsets], bool]) -> EndOffsets:
        """Return as many of the last samples of a topic as are enough, or all."""
        if topic != self._topic:
            self._topic, self._count = topic, FEW
            self._read()
        while not self._is_all and not is_enough(self._ends):
            self._count *= 4
            self._read()
        return self._ends

    def _read(self) -> None:
        rows: Sequence[tuple[int, bytes]] = self._database.execute(
            "SELECT at_ms, ends FROM end_offsets WHERE topic = ? AND at_ms >= ? ORDER BY at_ms DESC LIMIT ?",
            (self._topic, self._since_ms, self._count),
        ).fetchall()
        self._is_all = len(rows) < self._count
        samples = (Sample(at_ms, self._topic, _unpacked(packed)) for at_ms, packed in reversed(rows))
        self._ends = EndOffsets(samples, self._sampled)


def _unpacked(packed: bytes) -> list[int]:
    numbers: array[int] = array("q")
    numbers.frombytes(zlib.decompress(packed))
    return numbers.tolist()
