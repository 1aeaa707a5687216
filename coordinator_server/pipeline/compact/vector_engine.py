"""The vectorised engine: it writes the same layers as the reference, from columns.

Inputs are read newest first, in groups of about GROUP_BYTES. So memory holds the columns of one group, the distinct keys, and for
each kept record its position in its (mapped) file: KEY_BYTES for a key, and a caller can limit the keys. A record is kept if it is
the last of its key in its group, and no newer group has the key; Arrow's hash tables answer that exactly. Then the kept records are
written, oldest first. Their bytes from the key's length on are copied from the input; only the bytes before it, which depend on the
batch, are encoded again. ``settlement.py`` says which records of transactions count, and which batches are written unchanged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from crc32c import crc32c
from numpy.typing import NDArray

from coordinator_server.log.jobs import InputFile, Layer, LayerAttempt
from coordinator_server.log.opening import input_bytes
from coordinator_server.pipeline.compact.column_digest import (
    WRITE_RECORDS,
    digest_batches,
    digest_columns,
    edges_between,
    portion_end,
)
from coordinator_server.pipeline.compact.engine import EngineResult, PythonEngine
from coordinator_server.pipeline.compact.last_markers import without_old_markers
from coordinator_server.pipeline.compact.settlement import ATTRIBUTES, Settlement
from coordinator_server.pipeline.compact.varint_columns import edges_of, put_varints, varint_sizes, zigzag_bits
from coordinator_server.pipeline.input.columns import (
    HEADER,
    BatchColumns,
    Bytes,
    Columns,
    Ints,
    Irregular,
    map_file,
    read_batch_columns,
    slices,
)
from coordinator_server.pipeline.input.pieces import batch_columns_of, columns_of, neighbours, pieces, size_of
from coordinator_server.pipeline.layer.batches import MAX_BYTES, MAX_OFFSET_DELTA, MAX_RECORDS
from coordinator_server.pipeline.layer.record_digest import RecordDigest
from coordinator_server.pipeline.rules import Keyed
from protocol.record_batch import CHECKED_FROM, HEADER_SIZE, LENGTH_END, MAGIC, BatchHeader

GROUP_BYTES: Final = 32 << 20
KEY_BYTES: Final = 400
"""What a key of a shard, or a marker that is kept, takes of memory at most, beside a group."""
# Most bytes of unchanged batches that are copied at a time.
RUN_BYTES: Final = 1 << 20
_NONE: Final = np.empty(0, np.int64)
_EMPTY: Final = pa.scalar(b"", pa.large_binary())


class TooManyKeys(Exception):
    """A shard has more keys than memory was given for."""


class VectorEngine:
    """Uses columns where all files are plain, and the reference engine otherwise.

    With ``most_keys``, ``write`` raises TooManyKeys for a shard of plain files that has more keys and markers.
    """

    def __init__(self, most_keys: int | None = None) -> None:
        self._most_keys = most_keys

    def write(self, keyed: Keyed, inputs: Sequence[InputFile], cutoff_ms: int | None, attempt: LayerAttempt, /) -> EngineResult:
        settlement = Settlement(keyed.pending_types)
        try:
            records_in, kept, read = _select(inputs, settlement, self._most_keys)
            check_keys(kept, keyed)
            if cutoff_ms is not None:
                kept = [part.take((part.value_size >= 0) | (part.timestamp >= cutoff_ms)) for part in kept]
            kept = [part for part in settlement.with_open(kept, read, _read_batches) if len(part)]
            check_ascending(kept)
        except Irregular:
            return PythonEngine().write(keyed, inputs, cutoff_ms, attempt)
        unchanged = settlement.unchanged_batches(cutoff_ms)
        between = _Between(attempt, unchanged)
        write_batches(kept, between, between.bases)
        between.finish()
        expected = digest_columns(kept)
        for part in unchanged:
            expected.merge(digest_batches(part))
        tombstones = sum(int((part.value_size < 0).sum()) for part in kept)
        return EngineResult(records_in, expected.count, tombstones, expected)

    def digest(self, paths: Sequence[Path], /) -> RecordDigest:
        found = RecordDigest()
        for path in paths:
            try:
                found.merge(digest_batches(read_batch_columns(map_file(path), None, 2**63 - 1, ATTRIBUTES)))
            except Irregular:
                found.merge(PythonEngine().digest([path]))
        return found

    def for_checkpoint(self, layer: Layer, /) -> Iterable[tuple[bytes, BatchHeader]]:
        return without_old_markers(layer)


class _Unchanged(NamedTuple):
    """Batches of one file to write as they are. ``edges`` has their summed sizes, from 0 on."""

    data: Bytes
    bases: Ints
    starts: Ints
    ends: Ints
    edges: Ints


class _Between:
    """Appends batches to an attempt, with the unchanged batches between them. All come in offset order."""

    def __init__(self, attempt: LayerAttempt, unchanged: Sequence[BatchColumns]) -> None:
        self._attempt = attempt
        self._files = deque(_unchanged(file) for file in unchanged if len(file.starts))
        self._done = 0
        self.bases = np.concatenate([_NONE, *(file.bases for file in self._files)])

    def append(self, base_offset: int, *batch: bytes | memoryview) -> None:
        self.finish(base_offset)
        self._attempt.append(base_offset, *batch)

    def finish(self, before: int = 2**63 - 1) -> None:
        """Append the unchanged batches before an offset."""
        while self._files:
            file = self._files[0]
            end = int(np.searchsorted(file.bases, before))
            self._append(file, self._done, end)
            self._done = end
            if end < len(file.bases):
                return
            self._files.popleft()
            self._done = 0

    def _append(self, file: _Unchanged, at: int, end: int) -> None:
        """Append batches, many at a time, as far as the attempt's file has room."""
        while at < end:
            fit = int(np.searchsorted(file.edges, file.edges[at] + min(self._attempt.room, RUN_BYTES), "right")) - 1
            after = min(max(fit, at + 1), end)
            run = slices(file.data, file.starts[at:after], file.ends[at:after])
            self._attempt.append(int(file.bases[at]), memoryview(run.buffers()[2])[: int(file.edges[after] - file.edges[at])])
            at = after


def _unchanged(file: BatchColumns) -> _Unchanged:
    size = file.headers["length"].astype(np.int64) + LENGTH_END
    bases = file.headers["base_offset"].astype(np.int64)
    return _Unchanged(file.records.data, bases, file.starts, file.starts + size, edges_between(size))


def _select(
    inputs: Sequence[InputFile], settlement: Settlement, most_keys: int | None
) -> tuple[int, list[Columns], list[InputFile]]:
    """Return the number of records, the pieces of the inputs, and for each piece those that are the last of their key,
    in offset order.
    """
    records_in = keys = 0
    seen: list[pa.Array] = []
    kept: list[Columns] = []
    read: list[InputFile] = []
    for group in piece_groups(inputs):
        parts: list[Columns] = []
        for piece in reversed(group):
            count, counting = settlement.add(_read_batches(piece), piece.from_offset)
            records_in += count
            parts.insert(0, counting)
        distinct, last = last_of_keys(parts)
        if seen and len(distinct):
            is_new = pc.invert(pc.is_in(distinct, value_set=pa.chunked_array(seen)))
            distinct, last = distinct.filter(is_new), last[is_new.to_numpy(zero_copy_only=False)]
        keys += len(distinct)
        if most_keys is not None and keys + settlement.held > most_keys:
            raise TooManyKeys
        seen.append(distinct)
        last.sort()
        kept += reversed(_split(parts, last))
        read += reversed(group)
    return records_in, kept[::-1], read[::-1]


def file_groups(inputs: Sequence[InputFile]) -> list[list[InputFile]]:
    """Divide the files of a shard into groups of neighbours, the newest first. None is opened."""
    return list(neighbours(inputs, lambda file: input_bytes(file.path), GROUP_BYTES))


def piece_groups(inputs: Sequence[InputFile]) -> Iterator[list[InputFile]]:
    """Do the same with pieces. A file is opened when its group is asked for."""
    for files in file_groups(inputs):
        found = [piece for file in files for piece in pieces(file)]
        yield from neighbours(found, size_of, GROUP_BYTES)


def last_of_keys(parts: Sequence[Columns]) -> tuple[pa.Array, Ints]:
    """Return the distinct keys of files in offset order, and for each the row of its last record.

    Rows are counted over all files.
    """
    encoded = pa.concat_arrays([part.keys() for part in parts]).dictionary_encode()
    last = np.empty(len(encoded.dictionary), np.int64)
    codes = encoded.indices.to_numpy()
    last[codes] = np.arange(len(codes))
    return encoded.dictionary, last


def read_piece(piece: InputFile) -> Columns:
    """Return the columns of a piece from ``from_offset`` on. Raises Irregular."""
    columns = columns_of(piece)
    return columns if piece.from_offset == 0 else columns.take(columns.offset >= piece.from_offset)


def _read_batches(piece: InputFile) -> BatchColumns:
    return batch_columns_of(piece, ATTRIBUTES)


def _split(parts: Sequence[Columns], rows: Ints) -> list[Columns]:
    """Return the given rows, part by part. Rows are counted over all parts."""
    found = []
    start = 0
    for part in parts:
        end = start + len(part)
        first, after = np.searchsorted(rows, (start, end))
        found.append(part.take(rows[first:after] - start))
        start = end
    return found


def check_keys(kept: Sequence[Columns], keyed: Keyed) -> None:
    """Raise Irregular if keys have aliases: only the reference engine replaces those (``keyed.py``)."""
    for part in kept:
        # The first two bytes are the record's type; a shorter key has none.
        typed = part.key_start[part.key_end - part.key_start >= 2]
        for first, second in keyed.aliases:
            if ((part.data[typed] == first) & (part.data[typed + 1] == second)).any():
                raise Irregular("keys that name the same as others")


def check_ascending(kept: Sequence[Columns]) -> None:
    """Raise Irregular if offsets do not ascend."""
    if (np.diff(_joined(kept, "offset")) <= 0).any():
        raise Irregular("records out of order")


def _joined(kept: Sequence[Columns], name: str) -> Ints:
    return np.concatenate([np.empty(0, np.int64), *(getattr(part, name) for part in kept)])


class _Rows(NamedTuple):
    """The kept records of all files. ``cuts`` has the first row of each batch, and the number of rows at its end."""

    offset: Ints
    timestamp: Ints
    epoch: Ints
    cuts: Ints


def write_batches(
    kept: Sequence[Columns], attempt: LayerAttempt | _Between, bases: Ints = _NONE, *, is_end: bool = True
) -> list[Columns]:
    """Cut the records into batches and append these, a slice of whole batches at a time.
    No batch has records on both sides of a base.

    If more records follow (not ``is_end``), the last batch may get some of them: it is not appended, and its records are returned.
    """
    size = _joined(kept, "key_end") - _joined(kept, "key_start") + np.maximum(_joined(kept, "value_size"), 0)
    offset, epoch = _joined(kept, "offset"), _joined(kept, "epoch")
    edges = edges_between(size)
    rows = _Rows(offset, _joined(kept, "timestamp"), epoch, _cuts(offset, epoch, edges, bases))
    edges = edges[rows.cuts]
    first, end = 0, len(rows.cuts) - (1 if is_end else 2)
    while first < end:
        last = portion_end(edges, first, int(np.searchsorted(rows.cuts, rows.cuts[first] + WRITE_RECORDS, "right")) - 1)
        cuts = rows.cuts[first : min(last, end) + 1]
        span = np.arange(cuts[0], cuts[-1])
        tails = pa.concat_arrays([part.tails() for part in _split(kept, span) if len(part)])
        _write_batches(rows, cuts, tails, attempt)
        first = last
    return [part for part in _split(kept, np.arange(rows.cuts[max(end, 0)], len(offset))) if len(part)]


def _cuts(offset: Ints, epoch: Ints, edges: Ints, bases: Ints) -> Ints:
    """Return where batches start. Each takes as many records as the limits allow. ``edges`` are those of the records."""
    total = len(offset)
    between = np.searchsorted(offset, bases)
    changes = np.unique(np.concatenate([np.flatnonzero(np.diff(epoch)) + 1, between[between > 0], [total]]))
    cuts = [0]
    while cuts[-1] < total:
        at = cuts[-1]
        by_size = int(np.searchsorted(edges, edges[at] + MAX_BYTES, "right")) - 1
        by_offset = int(np.searchsorted(offset, offset[at] + MAX_OFFSET_DELTA, "right"))
        by_epoch = int(changes[np.searchsorted(changes, at, "right")])
        cuts.append(min(at + MAX_RECORDS, max(by_size, at + 1), by_offset, by_epoch))
    return np.array(cuts, np.int64)


def _write_batches(rows: _Rows, cuts: Ints, tails: pa.Array, attempt: LayerAttempt | _Between) -> None:
    counts = np.diff(cuts)
    start = int(cuts[0])
    span = slice(start, int(cuts[-1]))
    offset, timestamp = rows.offset[span], rows.timestamp[span]
    headers = np.zeros(len(counts), HEADER)
    headers["base_offset"] = rows.offset[cuts[:-1]]
    headers["epoch"] = rows.epoch[cuts[:-1]]
    headers["magic"] = MAGIC
    headers["last_delta"] = rows.offset[cuts[1:] - 1] - rows.offset[cuts[:-1]]
    headers["base_timestamp"] = rows.timestamp[cuts[:-1]]
    headers["max_timestamp"] = np.maximum.reduceat(timestamp, cuts[:-1] - start)
    for name in ("producer_id", "producer_epoch", "base_sequence"):
        headers[name] = -1
    headers["count"] = counts
    deltas = (timestamp - np.repeat(rows.timestamp[cuts[:-1]], counts), offset - np.repeat(rows.offset[cuts[:-1]], counts))
    records = pc.binary_join_element_wise(_prefixes(*deltas, pc.binary_length(tails).to_numpy()), tails, _EMPTY)
    edges = edges_of(records)[cuts - start]
    headers["length"] = np.diff(edges) + HEADER_SIZE - LENGTH_END
    _append(headers, memoryview(records.buffers()[2]), edges, attempt)


def _append(headers: NDArray[Any], records: memoryview, edges: Ints, attempt: LayerAttempt | _Between) -> None:
    """Compute the checksums, the only step that is done batch by batch, and append the batches."""
    bounds = edges.tolist()
    checked = memoryview(headers.tobytes())
    crcs = []
    for row in range(len(headers)):
        fixed = checked[row * HEADER_SIZE + CHECKED_FROM : (row + 1) * HEADER_SIZE]
        crcs.append(crc32c(records[bounds[row] : bounds[row + 1]], crc32c(fixed)))
    headers["crc"] = crcs
    whole = memoryview(headers.tobytes())
    for row, base_offset in enumerate(headers["base_offset"].tolist()):
        attempt.append(base_offset, whole[row * HEADER_SIZE : (row + 1) * HEADER_SIZE], records[bounds[row] : bounds[row + 1]])


def _prefixes(timestamp_delta: Ints, offset_delta: Ints, tail_size: Ints) -> pa.Array:
    """Return the bytes of each record before the key's length: its own length, attributes of 0, and the two deltas."""
    times, offsets = zigzag_bits(timestamp_delta), zigzag_bits(offset_delta)
    time_size, offset_size = varint_sizes(times), varint_sizes(offsets)
    body = zigzag_bits(1 + time_size + offset_size + tail_size)
    body_size = varint_sizes(body)
    edges = np.zeros(len(body) + 1, np.int64)
    np.cumsum(body_size + 1 + time_size + offset_size, out=edges[1:])
    out = np.zeros(edges[-1], np.uint8)
    put_varints(out, edges[:-1], body)
    put_varints(out, edges[:-1] + body_size + 1, times)
    put_varints(out, edges[:-1] + body_size + 1 + time_size, offsets)
    return pa.Array.from_buffers(pa.large_binary(), len(body), [None, pa.py_buffer(edges), pa.py_buffer(out)])
