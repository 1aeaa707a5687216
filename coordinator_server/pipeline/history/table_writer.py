"""Writes the Parquet files of a task: one per table, shard group and day, a row group at a time.

    waiting    rows of a table, up to GROUP_ROWS or GROUP_BYTES
    open       files that the next row group of their table and day goes to, MOST_OPEN at most; the one that waits longest is closed
    closed     a file has ROWS_PER_FILE, or had to make room, or the task is done

So memory holds a row group of each table, however many rows there are.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.history.output import TableFile
from coordinator_server.pipeline.locations import Url, make_parents, open_url, parse_location

ROWS_PER_FILE: Final = 2_000_000
GROUP_ROWS: Final = 1 << 17
GROUP_BYTES: Final = 16 << 20
MOST_OPEN: Final = 8
COMPRESSION: Final = "zstd"
_PRIVATE: Final = 0o077
_DAY: Final = "%Y-%m-%d"


class _OpenFile:
    """A file that gets rows."""

    def __init__(self, attempt: str, file: TableFile, schema: pa.Schema) -> None:
        self.file = file
        self.rows = 0
        self._attempt = attempt
        with _errors_of(attempt):
            self._writer = _open(attempt, file, schema)

    def write(self, rows: pa.Table) -> None:
        with _errors_of(self._attempt):
            self._writer.write_table(rows)
        self.rows += rows.num_rows

    def close(self) -> TableFile:
        with _errors_of(self._attempt):
            self._writer.close()
        return TableFile(self.file.table, self.file.path, self.rows, self.file.part)


class TableWriter:
    """The files of one task. ``attempt`` is where the run writes, ``number`` the task's, ``group`` that of its shards."""

    def __init__(self, attempt: str, run: int, number: int, group: int) -> None:
        self._attempt = attempt
        # Its own directory: Spark may run the task again while a worker that it has given up is still writing.
        self._part = f"{number}-{secrets.token_hex(8)}"
        self._group = group
        self._prefix = f"{run:06d}-{number}"
        self._opened = 0
        self._open: dict[tuple[str, str], _OpenFile] = {}
        self._closed: list[TableFile] = []
        self._waiting: dict[str, list[pa.Table]] = {}

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Add rows of any tables. Raises PipelineError."""
        for name, table in tables.items():
            if table.num_rows:
                waiting = self._waiting.setdefault(name, [])
                waiting.append(table)
                if sum(each.num_rows for each in waiting) >= GROUP_ROWS or sum(each.nbytes for each in waiting) >= GROUP_BYTES:
                    self._write(name, self._waiting.pop(name))

    def finish(self) -> tuple[TableFile, ...]:
        """Write what waits, and return all files. Raises PipelineError."""
        for name, waiting in self._waiting.items():
            self._write(name, waiting)
        for key in list(self._open):
            self._close(key)
        return tuple(self._closed)

    def _write(self, name: str, waiting: list[pa.Table]) -> None:
        table = pa.concat_tables(waiting)
        days = pc.floor_temporal(table["time"], unit="day")
        for day in pc.unique(days).to_pylist():
            rows = table.filter(pc.equal(days, pa.scalar(day, days.type)))
            key = (name, _day(day))
            # Taken out and put back: the dict is in the order of the last use.
            file = self._open.pop(key, None) or self._make(*key, table.schema)
            self._open[key] = file
            file.write(rows)
            if file.rows >= ROWS_PER_FILE:
                self._close(key)

    def _make(self, name: str, day: str, schema: pa.Schema) -> _OpenFile:
        if len(self._open) == MOST_OPEN:
            self._close(next(iter(self._open)))
        path = f"{name}/shard_group={self._group}/day={day}/{self._prefix}-{self._opened}.parquet"
        self._opened += 1
        return _OpenFile(self._attempt, TableFile(name, path, 0, self._part), schema)

    def _close(self, key: tuple[str, str]) -> None:
        self._closed.append(self._open.pop(key).close())


def write_empty(schema: pa.Schema, attempt: str, file: TableFile) -> None:
    """Write a file without rows. Raises PipelineError."""
    _OpenFile(attempt, file, schema).close()


def _day(day: datetime) -> str:
    return day.strftime(_DAY)


@contextmanager
def _errors_of(attempt: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = " ".join(str(error).split())
        raise PipelineError(f"cannot write below {parse_location(attempt)}: {why}; nothing is added, run it again") from error


def _open(attempt: str, file: TableFile, schema: pa.Schema) -> Any:
    where, path = parse_location(attempt), f"{file.part}/{file.path}"
    if isinstance(where, Url):
        store, target = open_url(where.child(path))
        make_parents(store, target)
        return pq.ParquetWriter(target, schema, compression=COMPRESSION, filesystem=store)
    # The tables say who did what, as the log does: only their user may read them, whatever the umask of a worker is.
    before = os.umask(_PRIVATE)
    try:
        (where / path).parent.mkdir(parents=True, exist_ok=True)
        return pq.ParquetWriter(where / path, schema, compression=COMPRESSION)
    finally:
        os.umask(before)
