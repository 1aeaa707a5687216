"""Compaction of a keyed shard that is too large for the memory of one task, without the parts that need Spark.

    find     One task per group of neighbouring files returns each key of the group with the offset of its last record there.
    shuffle  Spark finds the largest offset of each key, and sorts these. It gets keys and offsets, no values, and spills to disk.
    write    One task copies the records at these offsets, file by file. It cuts the same batches as ``VectorEngine``: same bytes.

No task holds all keys or all bytes. Folded shards need no shuffle: a task holds their state, not their log. A group with a file
that is not plain returns offset -1, which sorts first; the writing task then uses ``PythonEngine`` for the whole shard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from coordinator_server.log.jobs import InputFile, Layer, LayerAttempt
from coordinator_server.pipeline.compact.column_digest import digest_columns
from coordinator_server.pipeline.compact.engine import EngineResult, PythonEngine
from coordinator_server.pipeline.compact.vector_engine import (
    VectorEngine,
    check_ascending,
    check_keys,
    last_of_keys,
    piece_groups,
    read_piece,
    write_batches,
)
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.input.columns import Columns, Ints, Irregular
from coordinator_server.pipeline.input.pieces import pieces
from coordinator_server.pipeline.layer.record_digest import RecordDigest
from coordinator_server.pipeline.rules import Keyed
from protocol.record_batch import BatchHeader

NOT_PLAIN: Final = -1
# Rows of one Arrow batch that goes into the shuffle.
BATCH_ROWS: Final = 1 << 16


def last_offsets(group: Sequence[InputFile], keyed: Keyed) -> Iterator[pa.RecordBatch]:
    """Return the keys of neighbouring files with the offset of the last record of each;
    NOT_PLAIN and no key if a file is not plain.
    """
    for piece_group in piece_groups(group):
        try:
            parts = [read_piece(piece) for piece in piece_group]
            check_keys(parts, keyed)
            check_ascending(parts)
            keys, rows = last_of_keys(parts)
        except Irregular:
            yield _batch(pa.nulls(1, pa.binary()), pa.array([NOT_PLAIN]))
            return
        offsets = pa.array(np.concatenate([part.offset for part in parts])[rows])
        for first in range(0, len(keys), BATCH_ROWS):
            yield _batch(keys.slice(first, BATCH_ROWS).cast(pa.binary()), offsets.slice(first, BATCH_ROWS))


class ShuffledEngine:
    """An engine that keeps the records at given offsets. ``offsets`` ascend over arrays of any length."""

    def __init__(self, offsets: Iterator[Ints]) -> None:
        self._offsets = offsets
        self._next: Ints = np.empty(0, np.int64)

    def write(self, keyed: Keyed, inputs: Sequence[InputFile], cutoff_ms: int | None, attempt: LayerAttempt, /) -> EngineResult:
        if not self._is_plain():
            return PythonEngine().write(keyed, inputs, cutoff_ms, attempt)
        records_in = records = tombstones = 0
        last = -1
        digest, waiting = RecordDigest(), list[Columns]()
        for piece in (piece for file in inputs for piece in pieces(file)):
            columns = read_piece(piece)
            records_in += len(columns)
            kept = self._kept(columns, piece)
            if cutoff_ms is not None:
                kept = kept.take((kept.value_size >= 0) | (kept.timestamp >= cutoff_ms))
            if not len(kept):
                continue
            if int(kept.offset[0]) <= last:
                raise GateClosed(
                    f"{piece.path} begins before the file in front of it ends; nothing is published. Please report this"
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
        return EngineResult(records_in, records, tombstones, digest)

    def digest(self, paths: Sequence[Path], /) -> RecordDigest:
        return VectorEngine().digest(paths)

    def for_checkpoint(self, layer: Layer, /) -> Iterable[tuple[bytes, BatchHeader]]:
        return VectorEngine().for_checkpoint(layer)

    def _is_plain(self) -> bool:
        self._next = next((each for each in self._offsets if len(each)), self._next)
        if not len(self._next) or self._next[0] != NOT_PLAIN:
            return True
        for _ in self._offsets:
            pass
        return False

    def _kept(self, columns: Columns, file: InputFile) -> Columns:
        """Return the records of a file that are kept."""
        if not len(columns):
            return columns
        wanted = self._upto(int(columns.offset[-1]))
        rows = np.searchsorted(columns.offset, wanted)
        if (columns.offset[rows] != wanted).any():
            raise GateClosed(f"{file.path}: an offset was found that it does not have; nothing is published. Please report this")
        return columns.take(rows)

    def _upto(self, offset: int) -> Ints:
        """Take the next given offsets, up to and including ``offset``."""
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
