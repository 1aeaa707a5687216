"""One run of the history: the records of each shard that are new since the last run are converted to rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.kinds import GROUPS, SHARE_STATE, TRANSACTIONS, topic_of
from coordinator_server.log.opening import input_bytes
from coordinator_server.pipeline.history.end_offset_rows import NO_ENDS, NewEnds
from coordinator_server.pipeline.history.extract import Tables, tables_of
from coordinator_server.pipeline.history.new_records import Gap, NewRecords
from coordinator_server.pipeline.history.output import Output, TableFile
from coordinator_server.pipeline.history.share_rows import share_tables
from coordinator_server.pipeline.history.table_writer import TableWriter, write_empty
from coordinator_server.pipeline.history.tables import END_OFFSETS, SCHEMAS
from coordinator_server.pipeline.history.transaction_tables import transaction_tables
from coordinator_server.pipeline.input.topic_names import TopicNames
from coordinator_server.pipeline.progress import Progress

SHARDS_PER_GROUP: Final = 10
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
        writer = TableWriter(str(output.attempt), output.number, len(tasks), group=0)
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
    writer = TableWriter(task.attempt, task.run, task.number, task.shards[0].number // SHARDS_PER_GROUP)
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
            write_empty(schema, str(output.attempt), file)
            yield file


def _divide(found: Sequence[NewRecords], output: Output, task_count: int) -> list[HistoryTask]:
    """Divide the shards of each shard group into as few tasks as keep ``task_count`` workers busy."""
    groups: dict[int, list[NewRecords]] = {}
    for each in found:
        groups.setdefault(each.number // SHARDS_PER_GROUP, []).append(each)
    parts = max(1, -(-task_count // max(len(groups), 1)))
    divided = [group[part::parts] for group in groups.values() for part in range(min(parts, len(group)))]
    return [HistoryTask(number, output.number, str(output.attempt), tuple(part)) for number, part in enumerate(divided)]
