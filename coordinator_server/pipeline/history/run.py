"""One run of the history: what is new of each shard since the last one becomes rows.

A segment that retention has taken before a run has read it is gone: what its layer has kept of it is read instead, and the result says so.
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

from coordinator_server.log.layers import newest_valid_layer
from coordinator_server.pipeline.compact import Progress
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.history.extract import Tables, tables_of
from coordinator_server.pipeline.history.output import Output, Written
from coordinator_server.pipeline.history.remote import RemoteOutput
from coordinator_server.pipeline.history.tables import SCHEMAS
from coordinator_server.pipeline.places import Url, make_room, open_url, place
from coordinator_server.pipeline.plan import Source, segment_bases, shard_directories
from coordinator_server.pipeline.rules import rule_of

SHARDS_PER_GROUP: Final = 10
# A file is written when so many rows of a table have come together, or so many bytes of memory.
ROWS_PER_FILE: Final = 2_000_000
BYTES_PER_FILE: Final = 192 << 20
COMPRESSION: Final = "zstd"
_DAY: Final = "%Y-%m-%d"


class Gap(Struct, frozen=True):
    """Offsets of which only what compaction has kept could be read."""

    shard: str
    from_offset: int
    to_offset: int


class Piece(Struct, frozen=True):
    """A file, of which the records before an offset count."""

    source: Source
    before: int


class ShardNews(Struct, frozen=True):
    """What is new of one shard."""

    shard: str
    pieces: tuple[Piece, ...]
    to_offset: int
    gap: Gap | None = None

    @property
    def number(self) -> int:
        return int(self.shard.rpartition("-")[2])


class Hand(Struct, frozen=True):
    """The work of one task: shards of one shard group, so that they share files."""

    number: int
    run: int
    attempt: str
    news: tuple[ShardNews, ...]


class HistoryResult(Struct, frozen=True):
    """What a run has added: rows by table, and shards by how far they are read."""

    rows: dict[str, int]
    files: int
    positions: dict[str, int]
    gaps: tuple[Gap, ...] = ()


# Does the hands, in any order and place; any that fails raises.
Runner = Callable[[Sequence[Hand], Progress], Iterable[tuple[Written, ...]]]


def news(data_dir: Path, sealed: Mapping[str, int], positions: Mapping[str, int]) -> list[ShardNews]:
    """What has been sealed of each shard since ``positions``. Raises CannotRun when that is gone and no layer has it."""
    found = []
    for path in shard_directories(data_dir):
        if rule_of(path.name).tables and path.name in sealed:
            of_shard = _shard_news(path, positions.get(path.name, 0), sealed[path.name])
            if of_shard is not None:
                found.append(of_shard)
    return found


def write_history(
    found: Sequence[ShardNews], output: Output | RemoteOutput, run: Runner, progress: Progress, tasks: int
) -> HistoryResult:
    """Read what is new and add it to the tables, all or nothing."""
    hands = _deal(found, output, tasks)
    progress.start(len(hands), sum(Path(piece.source.path).stat().st_size for each in found for piece in each.pieces))
    try:
        files = tuple(chain.from_iterable(run(hands, progress))) if hands else ()
    finally:
        progress.stop()
    positions = {each.shard: each.to_offset for each in found}
    if found:
        output.add(files, positions)
    rows = {table: sum(file.rows for file in files if file.table == table) for table in SCHEMAS}
    return HistoryResult(rows, len(files), positions, tuple(each.gap for each in found if each.gap))


def run_here(hands: Sequence[Hand], progress: Progress) -> Iterator[tuple[Written, ...]]:
    """One hand after the other, in this process."""
    records = 0
    for done, hand in enumerate(hands, 1):
        files, count = write_hand(hand)
        records += count
        progress.advance(done, records)
        yield files


def work(hand: Hand) -> tuple[bytes, int]:
    """``write_hand`` for a task that hands bytes back."""
    files, records = write_hand(hand)
    return msgspec.json.encode(files), records


def write_hand(hand: Hand) -> tuple[tuple[Written, ...], int]:
    """The Parquet files of one hand, in its attempt, and how many records they are made of."""
    writer = _Writer(hand)
    records = 0
    for shard in hand.news:
        for piece in shard.pieces:
            for count, tables in tables_of(shard.number, piece.source, piece.before):
                records += count
                writer.add(tables)
    return writer.finish(), records


def _shard_news(path: Path, position: int, sealed_to: int) -> ShardNews | None:
    if position >= sealed_to:
        return None
    bases = [base for base in segment_bases(path) if base <= sealed_to]
    kept = [
        Piece(Source(str(path / f"{base:020d}.log"), position, end, is_dense=True), end)
        for base, end in itertools.pairwise(bases)
        if end > position
    ]
    first = int(Path(kept[0].source.path).stem) if kept else sealed_to
    if first <= position:
        return ShardNews(path.name, tuple(kept), sealed_to)
    layer = newest_valid_layer(path)
    if layer is None or layer.to_offset < first:
        raise CannotRun(f"{path.name}: offsets {position} to {first} are gone, and no layer has what was kept of them")
    of_layer = [Piece(Source(str(file), position, layer.to_offset, is_dense=False), first) for file in layer.files()]
    return ShardNews(path.name, (*of_layer, *kept), sealed_to, Gap(path.name, position, first))


def _deal(found: Sequence[ShardNews], output: Output | RemoteOutput, tasks: int) -> list[Hand]:
    """Shards of one group in as few hands as keep all tasks busy."""
    groups: dict[int, list[ShardNews]] = {}
    for each in found:
        groups.setdefault(each.number // SHARDS_PER_GROUP, []).append(each)
    parts = max(1, -(-tasks // max(len(groups), 1)))
    dealt = [group[part::parts] for group in groups.values() for part in range(min(parts, len(group)))]
    return [Hand(number, output.number, str(output.attempt), tuple(part)) for number, part in enumerate(dealt)]


class _Writer:
    """Collects rows and writes a file per table, shard group and day."""

    def __init__(self, hand: Hand) -> None:
        self._hand = hand
        # Of our own: whoever is given up for lost, and works on, must not write over the files of who does its hand again.
        self._part = f"{hand.number}-{secrets.token_hex(8)}"
        self._files: list[Written] = []
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in SCHEMAS}
        self._group = hand.news[0].number // SHARDS_PER_GROUP

    def add(self, tables: Tables) -> None:
        for name, table in tables.items():
            waiting = self._waiting[name]
            if table.num_rows:
                waiting.append(table)
                rows, size = sum(each.num_rows for each in waiting), sum(each.nbytes for each in waiting)
                if rows >= ROWS_PER_FILE or size >= BYTES_PER_FILE:
                    self._write(name)

    def finish(self) -> tuple[Written, ...]:
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
            path = f"{folder}/{self._hand.run:06d}-{self._hand.number}-{len(self._files)}.parquet"
            attempt = place(self._hand.attempt)
            try:
                _write_file(rows, attempt, f"{self._part}/{path}")
            except OSError as error:
                why = " ".join(str(error).split())
                raise PipelineError(f"cannot write below {attempt}: {why}; nothing is added, run it again") from error
            self._files.append(Written(name, path, rows.num_rows, self._part))


def _write_file(rows: pa.Table, attempt: Path | Url, path: str) -> None:
    if isinstance(attempt, Url):
        store, target = open_url(attempt.child(path))
        make_room(store, target)
        pq.write_table(rows, target, compression=COMPRESSION, filesystem=store)
    else:
        file = attempt / path
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, file, compression=COMPRESSION)
