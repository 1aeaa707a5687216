"""One run of the history: the records of each shard that are new since the last run are converted to rows."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from coordinator_server.kinds import GROUPS, SHARE_STATE, TRANSACTIONS, topic_of
from coordinator_server.log.opening import input_bytes
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.history.end_offset_rows import NO_ENDS, NewEnds
from coordinator_server.pipeline.history.extract import Tables, tables_of
from coordinator_server.pipeline.history.new_records import Gap, NewRecords
from coordinator_server.pipeline.history.output import Output, TableFile
from coordinator_server.pipeline.history.share_rows import share_tables
from coordinator_server.pipeline.history.tables import END_OFFSETS, SCHEMAS
from coordinator_server.pipeline.history.transaction_tables import transaction_tables
from coordinator_server.pipeline.input.topic_names import TopicNames
from coordinator_server.pipeline.locations import Url, make_parents, open_url, parse_location
from coordinator_server.pipeline.progress import Progress

SHARDS_PER_GROUP: Final = 10
# A file is written when a table has this number of rows, or takes this number of bytes of memory.
ROWS_PER_FILE: Final = 2_000_000
BYTES_PER_FILE: Final = 192 << 20
COMPRESSION: Final = "zstd"
_PRIVATE: Final = 0o077
_DAY: Final = "%Y-%m-%d"
# Where a table's file without rows is, and its part of the attempt.
_NO_DAY: Final = "shard_group=0/day=1970-01-01"
_EMPTY_PART: Final = "empty"


class HistoryTask(Struct, frozen=True):
    """The work of one task: the new records of shards of one shard group, which share files."""

    number: int
    run: int
    attempt: str
    shards: tuple[NewRecords, ...]


class HistoryResult(Struct, frozen=True):
    """What a run has added: the number of rows by table, and the offset up to which each shard was read."""

    rows: dict[str, int]
    files: int
    positions: dict[str, int]
    gaps: tuple[Gap, ...] = ()


# Runs tasks, in any order and any process. Raises if one of them fails.
Runner = Callable[[Sequence[HistoryTask], Progress], Iterable[tuple[TableFile, ...]]]


def write_history(
    found: Sequence[NewRecords], output: Output, run: Runner, progress: Progress, task_count: int, ends: NewEnds = NO_ENDS
) -> HistoryResult:
    """Read the new records and add their rows, and those of new samples of ends, to the tables, all or none."""
    tasks = _divide(found, output, task_count)
    progress.start(len(tasks), sum(input_bytes(part.file.path) for each in found for part in each.parts))
    try:
        files = tuple(chain.from_iterable(run(tasks, progress))) if tasks else ()
    finally:
        progress.stop()
    positions = {each.name: each.to_offset for each in found}
    if ends.to_ms:
        positions[END_OFFSETS] = ends.to_ms
        writer = _Writer(output.number, len(tasks), str(output.attempt), shard_group=0)
        writer.add({END_OFFSETS: ends.rows})
        files = (*files, *writer.finish())
    if positions:
        output.add((*files, *_empty_files(output, {file.table for file in files})), positions)
    rows = {table: sum(file.rows for file in files if file.table == table) for table in SCHEMAS}
    return HistoryResult(rows, len(files), positions, tuple(each.gap for each in found if each.gap))


def run_here(tasks: Sequence[HistoryTask], progress: Progress) -> Iterator[tuple[TableFile, ...]]:
    """Run the tasks in this process, one after the other."""
    records = 0
    for done, task in enumerate(tasks, 1):
        files, count = write_task(task)
        records += count
        progress.advance(done, records)
        yield files


def work(task: HistoryTask) -> tuple[bytes, int]:
    """Do ``write_task`` for a Spark task. Return the encoded files and the number of records."""
    files, records = write_task(task)
    return msgspec.json.encode(files), records


def write_task(task: HistoryTask) -> tuple[tuple[TableFile, ...], int]:
    """Write the Parquet files of one task, in its attempt. Return them and the number of records."""
    writer = _Writer(task.run, task.number, task.attempt, task.shards[0].number // SHARDS_PER_GROUP)
    records = 0
    for count, tables in _tables_of(task.shards):
        records += count
        writer.add(tables)
    return writer.finish(), records


def _tables_of(shards: Sequence[NewRecords]) -> Iterator[tuple[int, Tables]]:
    names = TopicNames(Path(shards[0].directory).parent, max(shard.catalog_to for shard in shards))
    of_ids = [shard for shard in shards if topic_of(shard.name) == TRANSACTIONS.topic]
    for shard in shards:
        if topic_of(shard.name) == SHARE_STATE.topic:
            yield from share_tables(shard, names)
        for part in shard.parts if topic_of(shard.name) == GROUPS.topic else ():
            yield from tables_of(shard.number, part.file, part.before, names)
    yield from transaction_tables(of_ids)


def _empty_files(output: Output, written: Set[str]) -> Iterator[TableFile]:
    """Write a file without rows for each table that has none yet: a query over a table without files fails."""
    for name, schema in SCHEMAS.items():
        if name not in written and not output.has_table(name):
            file = TableFile(name, f"{name}/{_NO_DAY}/{output.number:06d}-empty.parquet", 0, _EMPTY_PART)
            _write_or_say(schema.empty_table(), str(output.attempt), file)
            yield file


def _divide(found: Sequence[NewRecords], output: Output, task_count: int) -> list[HistoryTask]:
    """Divide the shards of each shard group into as few tasks as keep ``task_count`` workers busy."""
    groups: dict[int, list[NewRecords]] = {}
    for each in found:
        groups.setdefault(each.number // SHARDS_PER_GROUP, []).append(each)
    parts = max(1, -(-task_count // max(len(groups), 1)))
    divided = [group[part::parts] for group in groups.values() for part in range(min(parts, len(group)))]
    return [HistoryTask(number, output.number, str(output.attempt), tuple(part)) for number, part in enumerate(divided)]


class _Writer:
    """Collects rows and writes a file per table, shard group and day."""

    def __init__(self, run: int, number: int, attempt: str, shard_group: int) -> None:
        self._name = f"{run:06d}-{number}"
        self._attempt = attempt
        # Its own directory: Spark may run a task again while a worker that it has given up is still writing.
        self._part = f"{number}-{secrets.token_hex(8)}"
        self._files: list[TableFile] = []
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in SCHEMAS}
        self._group = shard_group

    def add(self, tables: Tables) -> None:
        for name, table in tables.items():
            waiting = self._waiting[name]
            if table.num_rows:
                waiting.append(table)
                rows, size = sum(each.num_rows for each in waiting), sum(each.nbytes for each in waiting)
                if rows >= ROWS_PER_FILE or size >= BYTES_PER_FILE:
                    self._write(name)

    def finish(self) -> tuple[TableFile, ...]:
        for name in self._waiting:
            self._write(name)
        return tuple(self._files)

    def _write(self, name: str) -> None:
        waiting, self._waiting[name] = self._waiting[name], []
        if not waiting:
            return
        table = pa.concat_tables(waiting)
        days = pc.floor_temporal(table["time"], unit="day")
        for day in pc.unique(days).to_pylist():
            rows = table.filter(pc.equal(days, pa.scalar(day, days.type)))
            folder = f"{name}/shard_group={self._group}/day={day.strftime(_DAY)}"
            path = f"{folder}/{self._name}-{len(self._files)}.parquet"
            file = TableFile(name, path, rows.num_rows, self._part)
            _write_or_say(rows, self._attempt, file)
            self._files.append(file)


def _write_or_say(table: pa.Table, attempt: str, file: TableFile) -> None:
    where = parse_location(attempt)
    try:
        _write_file(table, where, f"{file.part}/{file.path}")
    except OSError as error:
        why = " ".join(str(error).split())
        raise PipelineError(f"cannot write below {where}: {why}; nothing is added, run it again") from error


def _write_file(rows: pa.Table, attempt: Path | Url, path: str) -> None:
    if isinstance(attempt, Url):
        store, target = open_url(attempt.child(path))
        make_parents(store, target)
        pq.write_table(rows, target, compression=COMPRESSION, filesystem=store)
    else:
        file = attempt / path
        # The tables say who did what, as the log does: nobody else may read them, whatever the umask of a worker is.
        before = os.umask(_PRIVATE)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(rows, file, compression=COMPRESSION)
        finally:
            os.umask(before)
