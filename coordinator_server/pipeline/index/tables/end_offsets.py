"""The sampled ends of partitions, from the files beside an observed log (``lag/end_offsets.py``)."""

from __future__ import annotations

import sqlite3
import zlib
from array import array
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from coordinator_server.pipeline.lag.end_offsets import (
    DAY_MS,
    EndOffsets,
    Sample,
    begin_of_day_ms,
    day_ms,
    sample_files,
    samples_in,
)


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
        for sample, end in samples_in(path, size):
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
    names = [name for (name,) in database.execute("SELECT DISTINCT topic FROM end_offsets")] if topics is None else topics
    for topic in names:
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


def _unpacked(packed: bytes) -> list[int]:
    numbers: array[int] = array("q")
    numbers.frombytes(zlib.decompress(packed))
    return numbers.tolist()
