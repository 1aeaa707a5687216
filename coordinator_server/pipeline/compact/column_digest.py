"""The ``RecordDigest`` of whole columns: the same sums as those of ``layer/record_digest.py``, with numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from coordinator_server.pipeline.compact.varint_columns import Words, edges_of, varints
from coordinator_server.pipeline.input.columns import HEADER, BatchColumns, Columns, Ints, slices
from coordinator_server.pipeline.layer.record_digest import GOLDEN, MASK, MIX, SEEDS, RecordDigest
from protocol.record_batch import NO_PRODUCER_ID

# Of records that are hashed or written at a time: copies of their bytes, and five times that for hashes, are in memory then.
WRITE_RECORDS: Final = 1 << 17
WRITE_BYTES: Final = 8 << 20
_EMPTY: Final = pa.scalar(b"", pa.large_binary())
_PADDING: Final = pa.array([b"\0" * size for size in range(8)], pa.large_binary())
# The fields of a batch that are hashed with the records of a producer.
_OF_PRODUCER: Final = np.dtype(
    [(name, HEADER[name]) for name in ("producer_id", "producer_epoch", "base_sequence", "attributes")]
)


def digest_batches(file: BatchColumns) -> RecordDigest:
    """Return the digest of all records of batches, whether these are of producers or not."""
    of_producer = file.headers["producer_id"] != NO_PRODUCER_ID
    if not of_producer.any():
        return digest_columns([file.records])
    is_of_producer = np.repeat(of_producer, file.headers["count"])
    found = digest_columns([file.records.take(~is_of_producer)])
    records = file.records.take(is_of_producer)
    headers = np.repeat(file.headers[of_producer], file.headers["count"][of_producer])
    for part in portions(records.value_end - records.tail_start):
        found.merge(_digest_slice(_with_producers(records.take(part), headers[part])))
    return found


def digest_columns(kept: Sequence[Columns]) -> RecordDigest:
    """Return the ``RecordDigest`` of whole columns."""
    found = RecordDigest()
    for part in kept:
        for rows in portions(part.value_end - part.tail_start):
            found.merge(_digest_slice(part.take(rows).keys_and_values()))
    return found


def portions(sizes: Ints) -> Iterator[slice]:
    """Divide rows of some sizes into what is worked on at a time, at least one row."""
    edges = edges_between(sizes)
    first, end = 0, len(sizes)
    while first < end:
        last = portion_end(edges, first, first + WRITE_RECORDS)
        yield slice(first, last)
        first = last


def edges_between(sizes: Ints) -> Ints:
    """Return the bytes before each of some elements, and all of them at the end."""
    return np.concatenate([[0], np.cumsum(sizes)])


def portion_end(edges: Ints, first: int, end: int) -> int:
    """Return the end of a portion that begins at ``first`` and ends at ``end`` or before, with at most WRITE_BYTES or one element.

    ``edges`` are ``edges_between`` the elements.
    """
    return max(first + 1, min(end, int(np.searchsorted(edges, edges[first] + WRITE_BYTES, "right")) - 1))


def _with_producers(records: Columns, headers: NDArray[Any]) -> pa.Array:
    """Return what is hashed of records of producers (``engine.add_batch``):
    the producer precedes the key, as if it were part of it.
    """
    producers = np.empty(len(records), _OF_PRODUCER)
    for name in _OF_PRODUCER.names or ():
        producers[name] = headers[name]
    fixed = pa.Array.from_buffers(pa.binary(_OF_PRODUCER.itemsize), len(records), [None, pa.py_buffer(producers.tobytes())])
    size = varints(records.key_end - records.key_start + _OF_PRODUCER.itemsize)
    values = slices(records.data, records.key_end, records.value_end)
    return pc.binary_join_element_wise(size, fixed.cast(pa.large_binary()), records.keys(), values, _EMPTY)


def _digest_slice(data: pa.Array) -> RecordDigest:
    size = pc.binary_length(data).to_numpy()
    padded = pc.binary_join_element_wise(data, _PADDING.take(pa.array(-size % 8)), _EMPTY)
    edges = edges_of(padded) >> 3
    words = np.frombuffer(padded.buffers()[2], "<u8")[: edges[-1]]
    counts = np.diff(edges)
    position = np.arange(edges[-1]) - np.repeat(edges[:-1], counts)
    sums = []
    for seed in SEEDS:
        products = words * _weights(seed, int(counts.max()))[position]
        hashes = _mixed(np.add.reduceat(products, edges[:-1]) + size.astype(np.uint64))
        sums.append(int(np.add.reduce(hashes)) & MASK)
    return RecordDigest(len(data), (sums[0], sums[1]))


def _weights(seed: int, count: int) -> Words:
    index = np.arange(1, count + 1, dtype=np.uint64)
    return _mixed(index * np.uint64(GOLDEN) + np.uint64(seed)) | np.uint64(1)


def _mixed(value: Words) -> Words:
    for shift, factor in MIX:
        value = (value ^ value >> np.uint64(shift)) * np.uint64(factor)
    return value
