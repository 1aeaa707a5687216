"""Converts new records to tables: those of groups by whole columns if a file is plain, otherwise record by record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile
from coordinator_server.pipeline.history.commits import (
    OFFSET_COMMIT,
    Operations,
    commits_table,
    deletions_table,
    operations,
    split,
)
from coordinator_server.pipeline.history.consumer_rows import name_topics
from coordinator_server.pipeline.history.rows import UNKNOWN, LogPosition, Rows, add_rows, rows_of_batch
from coordinator_server.pipeline.history.tables import SCHEMAS
from coordinator_server.pipeline.input.columns import Columns, Irregular
from coordinator_server.pipeline.input.files import read_windows
from coordinator_server.pipeline.input.pieces import columns_of, pieces
from coordinator_server.pipeline.input.topic_names import TopicNames
from protocol.errors import DecodeError
from protocol.record_batch import iter_records

# Number of records that are converted at a time: each takes some hundred bytes, and while text is decoded twice its own size.
ROWS_AT_ONCE: Final = 1 << 17
# The same for the bytes of values that are converted one by one: each partition in an assignment takes eight of them, and then some
# hundred.
VALUE_BYTES_AT_ONCE: Final = 1 << 20

Tables = dict[str, pa.Table]


def tables_of(shard: int, file: InputFile, before: int, names: TopicNames) -> Iterator[tuple[int, Tables]]:
    """Return the rows of the records from ``file.from_offset`` up to ``before``, in pieces:
    the number of records, and their tables.

    Raises DamagedLog with file and position.
    """
    for piece in pieces(file):
        try:
            columns = columns_of(piece)
        except Irregular:
            yield from _read_records(shard, piece, before, names)
            continue
        is_wanted = (columns.offset >= file.from_offset) & (columns.offset < before)
        chosen = columns.take(is_wanted)
        if len(chosen):
            by = operations(columns)
            yield from _read_chosen(shard, file, chosen, Operations(by.found, by.which[is_wanted]), names)


def _read_chosen(shard: int, file: InputFile, chosen: Columns, by: Operations, names: TopicNames) -> Iterator[tuple[int, Tables]]:
    for rows in _at_once(chosen):
        part = chosen.take(rows)
        try:
            yield len(part), _read_columns(shard, part, Operations(by.found, by.which[rows]), names)
        except DecodeError as error:
            raise DamagedLog(file.path, 0, f"a record that cannot be read: {error}") from error


def _at_once(columns: Columns) -> Iterator[slice]:
    """Divide the records into those that are converted at a time."""
    record_type = columns.data[np.minimum(columns.key_start + 1, len(columns.data) - 1)]
    is_one_by_one = (record_type != OFFSET_COMMIT) & (columns.value_size > 0)
    ends = np.cumsum(np.where(is_one_by_one, columns.value_size, 0))
    first = 0
    while first < len(columns):
        done = int(ends[first - 1]) if first else 0
        large = int(np.searchsorted(ends, done + VALUE_BYTES_AT_ONCE, side="right"))
        end = min(first + ROWS_AT_ONCE, max(large, first + 1), len(columns))
        yield slice(first, end)
        first = end


def _read_columns(shard: int, columns: Columns, by: Operations, names: TopicNames) -> Tables:
    is_commit, is_tombstone, keys, values = split(columns)
    rows = no_rows()
    data = columns.data
    others = np.flatnonzero(~(is_commit | is_tombstone))
    for row in others.tolist():
        size, end = int(columns.value_size[row]), int(columns.value_end[row])
        value = None if size < 0 else data[end - size : end].tobytes()
        key = data[columns.key_start[row] : columns.key_end[row]].tobytes()
        index = int(by.which[row])
        position = LogPosition(shard, int(columns.offset[row]), int(columns.timestamp[row]))
        add_rows(position, key, value, UNKNOWN if index < 0 else by.found[index], rows)
    name_topics(rows, names)
    tables = as_tables(rows)
    tables["commits"] = pa.concat_tables([commits_table(shard, columns, is_commit, keys, values, by), tables["commits"]])
    tables["deletions"] = pa.concat_tables([deletions_table(shard, columns, is_tombstone, keys, by), tables["deletions"]])
    return tables


def _read_records(shard: int, file: InputFile, before: int, names: TopicNames) -> Iterator[tuple[int, Tables]]:
    rows, count, value_bytes = no_rows(), 0, 0
    for data, position, header, at in read_windows(file):
        try:
            records = [each for each in iter_records(data, position, header) if file.from_offset <= each.offset < before]
            rows_of_batch(shard, header, records, rows)
        except DecodeError as error:
            raise DamagedLog(file.path, at, f"a record that cannot be read: {error}") from error
        count += len(records)
        value_bytes += sum(len(each.value or b"") for each in records)
        if count >= ROWS_AT_ONCE or value_bytes >= VALUE_BYTES_AT_ONCE:
            name_topics(rows, names)
            yield count, as_tables(rows)
            rows, count, value_bytes = no_rows(), 0, 0
    name_topics(rows, names)
    yield count, as_tables(rows)


def no_rows() -> Rows:
    """Return every table, without rows."""
    return {name: [] for name in SCHEMAS}


def as_tables(rows: Rows) -> Tables:
    """Convert rows to tables."""
    return {name: pa.Table.from_pylist(rows[name], schema=schema) for name, schema in SCHEMAS.items()}
