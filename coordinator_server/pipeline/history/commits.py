"""Converts commits and tombstones of offsets to columns. They are nearly all records of any log.

The lengths in a record's key and value give the position of every field. So numpy reads each column of a file in one pass: all
group ids, then all topics, and so on. Values of other versions than 3 and 4, which are written today, are left to the reference
(``rows.py``), record by record.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from coordinator_server.machine.provenance import read_provenance
from coordinator_server.pipeline.history.rows import UNKNOWN, Operation, operation_of
from coordinator_server.pipeline.history.tables import REASONS, SCHEMAS, TIME, WHO
from coordinator_server.pipeline.input.columns import Bytes, Columns, Ints, slices
from coordinator_server.pipeline.states.state import topic_id_text
from protocol.errors import DecodeError
from protocol.record_batch import read_headers

Bools = NDArray[np.bool_]

OFFSET_COMMIT: Final = 1
PLAIN_STRINGS: Final = 3
TAGGED: Final = 4
# Two records that are farther apart than this have the header of a batch between them.
_BETWEEN_RECORDS: Final = 32
_UUID_BYTES: Final = 16


class Operations(NamedTuple):
    """The operation of each row: the distinct operations, and the index into these (-1 if unknown)."""

    found: list[Operation]
    which: Ints


class _Keys(NamedTuple):
    """Positions of the fields of keys."""

    group_start: Ints
    group_end: Ints
    topic_start: Ints
    topic_end: Ints


class _Values(NamedTuple):
    """Positions of the fields of values; ``topic_id`` is -1 if there is none."""

    offset: Ints
    metadata: Ints
    metadata_end: Ints
    topic_id: Ints


def operations(columns: Columns) -> Operations:
    """Return the operation of every row.

    A row without headers belongs to the operation before it, by the rule of ``attributed``.
    """
    data, rows = columns.data, np.arange(len(columns))
    has_headers = data[columns.value_end] != 0
    begins = np.ones(len(columns), bool)
    begins[1:] = columns.tail_start[1:] - columns.end[:-1] > _BETWEEN_RECORDS
    begins[1:] |= (np.diff(columns.offset) != 1) | (np.diff(columns.timestamp) != 0)
    headers_at = np.maximum.accumulate(np.where(has_headers, rows, -1))
    begun_at = np.maximum.accumulate(np.where(begins, rows, 0))
    encoded = slices(data, columns.value_end[has_headers], columns.end[has_headers]).dictionary_encode()
    found = [_operation(blob) for blob in encoded.dictionary.to_pylist()]
    number = np.cumsum(has_headers) - 1
    codes = encoded.indices.to_numpy()
    index = np.full(len(columns), -1, np.int64)
    has_operation = headers_at >= begun_at
    index[has_operation] = codes[number[has_operation]]
    return Operations(found, index)


def split(columns: Columns) -> tuple[Bools, Bools, _Keys, _Values]:
    """Return which rows are commits of a known version, which are tombstones of offsets, and the positions of their fields."""
    data = columns.data
    size = columns.key_end - columns.key_start
    # Rows of other types are read, too, and what is read of them is ignored.
    group_start = columns.key_start + 4
    group_end = group_start + _int(data, _clipped(data, columns.key_start + 2, 2), "i2")
    topic_start = group_end + 2
    topic_end = topic_start + _int(data, _clipped(data, group_end, 2), "i2")
    is_offset = _int(data, _clipped(data, columns.key_start, 2), "i2") == OFFSET_COMMIT
    is_offset &= (size >= 12) & (group_end >= group_start) & (topic_end >= topic_start) & (topic_end + 4 == columns.key_end)
    start = columns.value_end - np.maximum(columns.value_size, 0)
    is_large = is_offset & (columns.value_size >= 24)
    version = np.where(is_large, _int(data, _clipped(data, start, 2), "i2"), -1)
    # The length of the metadata: an int16 in version 3, a varint of one or two bytes in version 4.
    first, second = data[_clipped(data, start + 14)].astype(np.int64), data[_clipped(data, start + 15)].astype(np.int64)
    is_long = first >= 0x80
    compact = np.where(is_long, (first & 0x7F) | (second << 7), first) - 1
    plain = _int(data, _clipped(data, start + 14, 2), "i2")
    is_tagged = version == TAGGED
    metadata = start + np.where(is_tagged, 15 + is_long, 16)
    metadata_end = metadata + np.where(is_tagged, compact, plain)
    tags = metadata_end + 8
    is_bare = (data[_clipped(data, tags)] == 0) & (tags + 1 == columns.value_end)
    has_id = (_int(data, _clipped(data, tags, 4), "u4") >> 8 == 0x010010) & (tags + 3 + _UUID_BYTES == columns.value_end)
    is_sound = np.where(is_tagged, (compact >= 0) & ((second < 0x80) | ~is_long) & (is_bare | has_id), plain >= 0)
    is_sound &= is_tagged | ((version == PLAIN_STRINGS) & (tags == columns.value_end))
    values = _Values(start + 2, metadata, metadata_end, np.where(is_tagged & has_id, tags + 3, -1))
    is_tombstone = is_offset & (columns.value_size == -1)
    return is_large & is_sound, is_tombstone, _Keys(group_start, group_end, topic_start, topic_end), values


def commits_table(shard: int, columns: Columns, rows: Bools, keys: _Keys, values: _Values, by: Operations) -> pa.Table:
    """Return the ``commits`` of the chosen rows."""
    data = columns.data
    keys, values = _Keys(*(each[rows] for each in keys)), _Values(*(each[rows] for each in values))
    epoch = _int(data, values.offset + 8, "i4")
    parts = _common(shard, columns, rows, keys) | {
        "offset": pa.array(_int(data, values.offset, "i8")),
        "leader_epoch": pa.array(epoch.astype(np.int32), mask=epoch < 0),
        "metadata": _text(data, values.metadata, values.metadata_end),
        "commit_time": pa.array(_int(data, values.metadata_end, "i8")).cast(TIME),
        "topic_id": _topic_ids(data, values.topic_id),
    }
    return _table("commits", parts | _made(by, rows), int(rows.sum()))


def deletions_table(shard: int, columns: Columns, rows: Bools, keys: _Keys, by: Operations) -> pa.Table:
    """Return the ``deletions`` of the chosen rows."""
    keys = _Keys(*(each[rows] for each in keys))
    return _table("deletions", _common(shard, columns, rows, keys) | _made(by, rows), int(rows.sum()))


def _table(name: str, parts: dict[str, Any], count: int) -> pa.Table:
    schema = SCHEMAS[name]
    return pa.table([parts.get(field.name, pa.nulls(count, field.type)) for field in schema], schema=schema)


def _common(shard: int, columns: Columns, rows: Bools, keys: _Keys) -> dict[str, pa.Array]:
    data = columns.data
    return {
        "shard": pa.array(np.full(int(rows.sum()), shard, np.int32)),
        "log_offset": pa.array(columns.offset[rows]),
        "time": pa.array(columns.timestamp[rows]).cast(TIME),
        "group_id": _text(data, keys.group_start, keys.group_end),
        "topic": _text(data, keys.topic_start, keys.topic_end),
        "partition": pa.array(_int(data, keys.topic_end, "i4").astype(np.int32)),
    }


def _made(by: Operations, rows: Bools) -> dict[str, pa.Array]:
    """Return the columns that say who made a change, and why."""
    index = _nullable(by.which[rows])
    who = {name: pa.array([each.who[name] for each in by.found], kind).take(index) for name, kind in WHO}
    return who | {"reasons": pa.array([each.reasons for each in by.found], REASONS).take(index)}


def _topic_ids(data: Bytes, at: Ints) -> pa.Array:
    """Return topic ids as text. There are few distinct ids, so each is converted once."""
    has_id = at >= 0
    encoded = slices(data, at[has_id], at[has_id] + _UUID_BYTES).dictionary_encode()
    names = pa.array([topic_id_text(each) for each in encoded.dictionary.to_pylist()], pa.string())
    index = np.full(len(at), -1, np.int64)
    index[has_id] = encoded.indices.to_numpy()
    return names.take(_nullable(index))


def _nullable(index: Ints) -> pa.Array:
    return pa.array(index, mask=index < 0)


def _text(data: Bytes, start: Ints, end: Ints) -> pa.Array:
    return slices(data, start, end).cast(pa.large_string()).cast(pa.string())


def _operation(blob: bytes) -> Operation:
    try:
        return operation_of(read_provenance(read_headers(blob, 0, len(blob))[0]))
    except (DecodeError, IndexError):
        # The headers of another writer: the checksum has proven that the batch is intact.
        return UNKNOWN


def _clipped(data: Bytes, at: Ints, size: int = 1) -> Ints:
    """Limit positions to where ``size`` bytes can be read. A position that was out of range belongs to a row that is not used."""
    return np.clip(at, 0, len(data) - size)


def _int(data: Bytes, at: Ints, kind: str) -> Ints:
    """Read the big-endian integers at the given positions."""
    size = int(kind[1])
    windows = np.lib.stride_tricks.sliding_window_view(data, size)
    return np.ascontiguousarray(windows[at]).view(f">{kind}")[:, 0].astype(np.int64)
