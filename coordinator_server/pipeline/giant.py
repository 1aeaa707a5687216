"""A shard that one task should not hold: many tasks find the last record of each key, one writes them, and none has all keys or all bytes.

    find     a task per group of neighbouring files: its keys, each with the offset of its last record there
    shuffle  Spark's: the largest offset of each key, then all of those in order. Keys and offsets, no values; what does not fit into memory is spilled
    write    one task: file by file, the records at those offsets, in the batches that the in-task way cuts: the same bytes

A folded log is no giant: what a task holds of one is its state. A file that is not plain is told by an offset of -1, which comes first in order: the writer then does the shard the in-task way. This is the
Python of it, without Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from coordinator_server.log.layers import LayerAttempt
from coordinator_server.pipeline.columns import Columns, Ints, Irregular
from coordinator_server.pipeline.digest import Digest
from coordinator_server.pipeline.engine import Written
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.plan import Source
from coordinator_server.pipeline.rules import Keyed
from coordinator_server.pipeline.vectors import (
    VectorEngine,
    check_ascending,
    check_keys,
    digest_columns,
    last_of_keys,
    read_source,
    write_batches,
)

NOT_PLAIN: Final = -1
# Rows of one Arrow batch on their way into the shuffle.
BATCH_ROWS: Final = 1 << 16


def last_offsets(group: Sequence[Source], keyed: Keyed) -> Iterator[pa.RecordBatch]:
    """The keys of neighbouring files, in offset order, with the offset of each one's last record there; or NOT_PLAIN without a key."""
    try:
        parts = [read_source(source) for source in group]
        check_keys(parts, keyed)
        check_ascending(parts)
        keys, rows = last_of_keys(parts)
    except Irregular:
        yield _batch(pa.nulls(1, pa.binary()), pa.array([NOT_PLAIN]))
        return
    offsets = pa.array(np.concatenate([part.offset for part in parts])[rows])
    for first in range(0, len(keys), BATCH_ROWS):
        yield _batch(keys.slice(first, BATCH_ROWS).cast(pa.binary()), offsets.slice(first, BATCH_ROWS))


class GivenOffsets:
    """An engine that is told which records stay. ``offsets`` ascend, over arrays of any length."""

    def __init__(self, offsets: Iterator[Ints]) -> None:
        self._offsets = offsets
        self._next: Ints = np.empty(0, np.int64)

    def write(self, keyed: Keyed, inputs: Sequence[Source], cutoff_ms: int | None, attempt: LayerAttempt, /) -> Written:
        if not self._is_plain():
            return VectorEngine().write(keyed, inputs, cutoff_ms, attempt)
        records_in = records = tombstones = 0
        last = -1
        digest, waiting = Digest(), list[Columns]()
        for source in inputs:
            columns = read_source(source)
            records_in += len(columns)
            kept = self._kept(columns, source)
            if cutoff_ms is not None:
                kept = kept.take((kept.value_size >= 0) | (kept.timestamp >= cutoff_ms))
            if not len(kept):
                continue
            if int(kept.offset[0]) <= last:
                raise GateClosed(
                    f"{source.path} begins before the file in front of it ends; nothing is published. Please report this"
                )
            last = int(kept.offset[-1])
            records += len(kept)
            tombstones += int((kept.value_size < 0).sum())
            digest.merge(digest_columns([kept]))
            waiting = write_batches([*waiting, kept], attempt, is_end=False)
        write_batches(waiting, attempt)
        if len(self._upto(2**63 - 1)):
            raise GateClosed(
                f"{attempt.path.parent}: offsets were found that no file has; nothing is published. Please report this"
            )
        return Written(records_in, records, tombstones, digest)

    def digest(self, paths: Sequence[Path], /) -> Digest:
        return VectorEngine().digest(paths)

    def _is_plain(self) -> bool:
        self._next = next((each for each in self._offsets if len(each)), self._next)
        if not len(self._next) or self._next[0] != NOT_PLAIN:
            return True
        for _ in self._offsets:
            pass
        return False

    def _kept(self, columns: Columns, source: Source) -> Columns:
        """The records of a file that stay."""
        if not len(columns):
            return columns
        wanted = self._upto(int(columns.offset[-1]))
        rows = np.searchsorted(columns.offset, wanted)
        if (columns.offset[rows] != wanted).any():
            raise GateClosed(
                f"{source.path}: an offset was found that it does not have; nothing is published. Please report this"
            )
        return columns.take(rows)

    def _upto(self, offset: int) -> Ints:
        """The given offsets that come next, as far as the one named."""
        found = []
        while True:
            count = int(np.searchsorted(self._next, offset, "right"))
            found.append(self._next[:count])
            self._next = self._next[count:]
            if len(self._next):
                break
            following = next(self._offsets, None)
            if following is None:
                break
            self._next = following
        return np.concatenate(found)


def _batch(keys: pa.Array, offsets: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([keys, offsets], ["key", "offset"])
