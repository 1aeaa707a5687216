"""One run of the history: the records of each shard that are new since the last run are converted to rows.

If retention has removed a segment before a run has read it, the run reads what a layer has kept of it, and reports the gap.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from coordinator_server.log.file_names import segment_path
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.history.extract import Tables, tables_of
from coordinator_server.pipeline.history.output import Output, TableFile
from coordinator_server.pipeline.history.tables import SCHEMAS
from coordinator_server.pipeline.input.files import InputFile
from coordinator_server.pipeline.input.shards import segment_bases, shard_directories
from coordinator_server.pipeline.locations import Url, make_parents, open_url, parse_location
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.rules import rule_of

SHARDS_PER_GROUP: Final = 10
# A file is written when a table has this number of rows, or takes this number of bytes of memory.
ROWS_PER_FILE: Final = 2_000_000
BYTES_PER_FILE: Final = 192 << 20
COMPRESSION: Final = "zstd"
_DAY: Final = "%Y-%m-%d"


class Gap(Struct, frozen=True):
    """A range of offsets that was compacted before it was read."""

    shard: str
    from_offset: int
    to_offset: int


class FilePart(Struct, frozen=True):
    """The records of a file before an offset."""

    file: InputFile
    before: int


class NewRecords(Struct, frozen=True):
    """The new records of one shard."""

    shard: str
    parts: tuple[FilePart, ...]
    to_offset: int
    gap: Gap | None = None

    @property
    def number(self) -> int:
        return int(self.shard.rpartition("-")[2])


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


def new_records(data_dir: Path, sealed: Mapping[str, int], positions: Mapping[str, int]) -> list[NewRecords]:
    """Return what was sealed of each shard since ``positions``. Raises CannotRun if it was removed and no layer has it."""
    found = []
    for path in shard_directories(data_dir):
        if rule_of(path.name).tables and path.name in sealed:
            of_shard = _new_of_shard(path, positions.get(path.name, 0), sealed[path.name])
            if of_shard is not None:
                found.append(of_shard)
    return found


def write_history(found: Sequence[NewRecords], output: Output, run: Runner, progress: Progress, task_count: int) -> HistoryResult:
    """Read the new records and add their rows to the tables, all or none."""
    tasks = _divide(found, output, task_count)
    progress.start(len(tasks), sum(Path(part.file.path).stat().st_size for each in found for part in each.parts))
    try:
        files = tuple(chain.from_iterable(run(tasks, progress))) if tasks else ()
    finally:
        progress.stop()
    positions = {each.shard: each.to_offset for each in found}
    if found:
        output.add(files, positions)
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
    writer = _Writer(task)
    records = 0
    for shard in task.shards:
        for part in shard.parts:
            for count, tables in tables_of(shard.number, part.file, part.before):
                records += count
                writer.add(tables)
    return writer.finish(), records


def _new_of_shard(path: Path, position: int, sealed_to: int) -> NewRecords | None:
    if position >= sealed_to:
        return None
    bases = [base for base in segment_bases(path) if base <= sealed_to]
    kept = [
        FilePart(InputFile(segment_path(str(path), base), position, end, is_dense=True), end)
        for base, end in itertools.pairwise(bases)
        if end > position
    ]
    first = int(Path(kept[0].file.path).stem) if kept else sealed_to
    if first <= position:
        return NewRecords(path.name, tuple(kept), sealed_to)
    layer = newest_valid_layer(path)
    if layer is None or layer.to_offset < first:
        raise CannotRun(f"{path.name}: offsets {position} to {first} are gone, and no layer has what was kept of them")
    of_layer = [FilePart(InputFile(str(file), position, layer.to_offset, is_dense=False), first) for file in layer.files()]
    return NewRecords(path.name, (*of_layer, *kept), sealed_to, Gap(path.name, position, first))


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

    def __init__(self, task: HistoryTask) -> None:
        self._task = task
        # Its own directory: Spark may run the task again while a worker that it has given up is still writing.
        self._part = f"{task.number}-{secrets.token_hex(8)}"
        self._files: list[TableFile] = []
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in SCHEMAS}
        self._group = task.shards[0].number // SHARDS_PER_GROUP

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
            path = f"{folder}/{self._task.run:06d}-{self._task.number}-{len(self._files)}.parquet"
            attempt = parse_location(self._task.attempt)
            try:
                _write_file(rows, attempt, f"{self._part}/{path}")
            except OSError as error:
                why = " ".join(str(error).split())
                raise PipelineError(f"cannot write below {attempt}: {why}; nothing is added, run it again") from error
            self._files.append(TableFile(name, path, rows.num_rows, self._part))


def _write_file(rows: pa.Table, attempt: Path | Url, path: str) -> None:
    if isinstance(attempt, Url):
        store, target = open_url(attempt.child(path))
        make_parents(store, target)
        pq.write_table(rows, target, compression=COMPRESSION, filesystem=store)
    else:
        file = attempt / path
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, file, compression=COMPRESSION)
