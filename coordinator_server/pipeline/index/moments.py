"""Offsets by moments: each record of a shard that is later than all before it.

The first record after a moment is one of them (``input.files.first_after`` reads a whole log for it).
"""

from __future__ import annotations

import sqlite3
import zlib
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from protocol.record_batch import BatchHeader, iter_records


class Moment(NamedTuple):
    """A record: its time in ms since 1970, and its offset."""

    at_ms: int
    offset: int


def moments_of(data: bytes, position: int, header: BatchHeader, latest_ms: int) -> Iterator[Moment]:
    """Return the records of a batch that are later than ``latest_ms`` and all before them. Raises DecodeError."""
    if header.max_timestamp <= latest_ms:
        return
    if header.base_timestamp == header.max_timestamp and header.count > header.last_offset_delta:
        yield Moment(header.max_timestamp, header.base_offset)
        return
    for record in iter_records(data, position, header, with_headers=False):
        at_ms = min(record.timestamp, header.max_timestamp)
        if at_ms > latest_ms:
            latest_ms = at_ms
            yield Moment(at_ms, record.offset)


def encoded(found: Iterable[Moment]) -> bytes:
    """Return moments in order as bytes."""
    return zlib.compress(array("q", [number for each in found for number in each]).tobytes())


def offset_after(database: sqlite3.Connection, shard: int, at_ms: int) -> int | None:
    """Return the offset of a shard's first record after a moment; None if the index has none."""
    before = "SELECT pairs FROM moments WHERE shard = ? AND first_ms <= ? ORDER BY first_ms DESC LIMIT 1"
    after = "SELECT pairs FROM moments WHERE shard = ? AND first_ms > ? ORDER BY first_ms LIMIT 1"
    for question in (before, after):
        for (pairs,) in database.execute(question, (shard, at_ms)):
            found = next((moment.offset for moment in _decoded(pairs) if moment.at_ms > at_ms), None)
            if found is not None:
                return found
    return None


def moment_at(database: sqlite3.Connection, shard: int, offset: int) -> int | None:
    """Return the time (ms) from which on a shard has the records at an offset and behind it; None if the index has none."""
    for (pairs,) in database.execute("SELECT pairs FROM moments WHERE shard = ? ORDER BY first_ms", (shard,)):
        found = next((moment.at_ms for moment in _decoded(pairs) if moment.offset >= offset), None)
        if found is not None:
            return found
    return None


def _decoded(pairs: bytes) -> Iterator[Moment]:
    numbers = array("q")
    numbers.frombytes(zlib.decompress(pairs))
    return (Moment(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True))
