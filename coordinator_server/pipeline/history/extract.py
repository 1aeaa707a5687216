"""Converts new records to tables: those of groups by whole columns if a file is plain, otherwise record by record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from coordinator_server.log.errors import DamagedLog
from coordinator_server.pipeline.history.commits import Operations, commits_table, deletions_table, operations, split
from coordinator_server.pipeline.history.consumer_rows import name_topics
from coordinator_server.pipeline.history.rows import UNKNOWN, LogPosition, Rows, add_rows, rows_of_batch
from coordinator_server.pipeline.history.tables import SCHEMAS
from coordinator_server.pipeline.input.columns import Columns, Irregular, map_file, read_columns
from coordinator_server.pipeline.input.files import InputFile, read_batches
from coordinator_server.pipeline.input.topic_names import TopicNames
from protocol.errors import DecodeError
from protocol.record_batch import iter_records

# Number of records that are converted at a time: each takes some hundred bytes, and while text is decoded twice its own size.
ROWS_AT_ONCE: Final = 1 << 17

Tables = dict[str, pa.Table]


def tables_of(shard: int, file: InputFile, before: int, names: TopicNames) -> Iterator[tuple[int, Tables]]:
    """Return the rows of the records from ``file.from_offset`` up to ``before``, in pieces: the number of records, and their tables.

    Raises DamagedLog with file and position.
    """
    path = Path(file.path)
    try:
        columns = read_columns(map_file(path), int(path.stem) if file.is_dense else None, file.to_offset)
    except Irregular:
        yield _read_records(shard, file, before, names)
        return
    is_wanted = (columns.offset >= file.from_offset) & (columns.offset < before)
    chosen = columns.take(is_wanted)
    if not len(chosen):
        return
    by = operations(columns)
    by = Operations(by.found, by.which[is_wanted])
    for first in range(0, len(chosen), ROWS_AT_ONCE):
        piece = slice(first, first + ROWS_AT_ONCE)
        part = chosen.take(piece)
        try:
            yield len(part), _read_columns(shard, part, Operations(by.found, by.which[piece]), names)
        except DecodeError as error:
            raise DamagedLog(file.path, 0, f"a record that cannot be read: {error}") from error


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


def _read_records(shard: int, file: InputFile, before: int, names: TopicNames) -> tuple[int, Tables]:
    rows = no_rows()
    count = 0
    for data, position, header in read_batches(file):
        try:
            records = [each for each in iter_records(data, position, header) if file.from_offset <= each.offset < before]
            rows_of_batch(shard, header, records, rows)
        except DecodeError as error:
            raise DamagedLog(file.path, position, f"a record that cannot be read: {error}") from error
        count += len(records)
    name_topics(rows, names)
    return count, as_tables(rows)


def no_rows() -> Rows:
    """Return every table, without rows."""
    return {name: [] for name in SCHEMAS}


def as_tables(rows: Rows) -> Tables:
    """Convert rows to tables."""
    return {name: pa.Table.from_pylist(rows[name], schema=schema) for name, schema in SCHEMAS.items()}
