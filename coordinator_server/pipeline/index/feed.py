"""Gives the writer of an index the log of a directory, and readers what follows the index.

A position has the name of the file and the position of the last batch that was read. If that batch is there, the log goes on after
it; otherwise it is another log, or its end was lost, and the index of the shard is made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.kinds import topic_of
from coordinator_server.log.jobs import InputFile, JobShard
from coordinator_server.log.opening import identity_of, job_shards
from coordinator_server.pipeline.index.chunk import CHUNK_BYTES
from coordinator_server.pipeline.index.database import open_to_write, size_of
from coordinator_server.pipeline.index.shard_row import Position
from coordinator_server.pipeline.index.snapshot import Snapshot, snapshot
from coordinator_server.pipeline.index.writer import TOPICS, IndexWriter
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.files import read_batches
from coordinator_server.pipeline.input.retries import ONCE, Retries
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD, TopicNames
from coordinator_server.pipeline.progress import Progress
from protocol.errors import DecodeError
from protocol.record_batch import HEADER_SIZE, BatchHeader, read_header

DIRECTORY: Final = "index"
"""The directory of the index, in the log's."""
NOTHING: Final = Position(0)


class LogDiffers(Exception):
    """The log of a shard does not go on where its index ends."""


class Placed(NamedTuple):
    """A batch of a log, as (bytes, position, header), and where it is."""

    batch: tuple[bytes, int, BatchHeader]
    place: str


class Updated(Struct):
    """What an update has read. ``size`` is that of the index, ``again`` are the shards whose index was made again."""

    shards: int = 0
    records: int = 0
    bytes: int = 0
    size: int = 0
    again: list[str] = []


def index_of(data_dir: Path) -> AbstractContextManager[Snapshot]:
    """Open the index of a directory to read one moment of it. Entering it raises NoIndex. Raises LogError."""
    return snapshot(data_dir / DIRECTORY, identity_of(data_dir).cluster_id)


def batches_after(shard: JobShard, end: int, position: Position) -> Iterator[Placed]:
    """Return the batches of a shard after a position and before ``end``. Raises LogDiffers (at once) and DamagedLog."""
    layer, files = shard.whole(end)
    if position.next_offset > end:
        raise LogDiffers(f"{shard.name} ends at offset {end}, and {position.next_offset} was read")
    if layer is not None and position != NOTHING and layer.to_offset > position.next_offset:
        raise LogDiffers(f"{shard.name} begins at offset {layer.to_offset}, and {position.next_offset} comes next")
    return _read(files, _resume(shard, files, position), end)


def update(
    data_dir: Path,
    progress: Progress,
    retries: Retries = ONCE,
    chunk_bytes: int = CHUNK_BYTES,
    ends: Mapping[str, int] | None = None,
) -> Updated:
    """Bring the index of a directory up to date, or make it. ``ends`` is what is durable, if that was asked before.

    Raises Busy, PipelineError, LogError.
    """
    ends = durable(data_dir, retries) if ends is None else ends
    names = TopicNames(data_dir, ends.get(CATALOG_SHARD, 0))
    shards = [shard for shard in job_shards(data_dir) if topic_of(shard.name) in TOPICS]
    done = Updated()
    progress.start(len(shards))
    try:
        with open_to_write(data_dir / DIRECTORY, identity_of(data_dir).cluster_id) as database:
            writer = IndexWriter(database, names, chunk_bytes)
            for shard in shards:
                update_shard(writer, shard, ends.get(shard.name, 0), done)
                done.shards += 1
                progress.advance(done.shards, done.records)
            writer.take_samples(data_dir)
            done.size = size_of(database)
    finally:
        progress.stop()
    return done


def update_shard(writer: IndexWriter, shard: JobShard, end: int, done: Updated) -> None:
    """Give a writer what it does not have of a shard before ``end``. The caller flushes. Raises DamagedLog."""
    begins_at = 0 if (layer := shard.whole(end)[0]) is None else layer.to_offset
    position = writer.position(shard.name)
    if position is not None:
        try:
            found = batches_after(shard, end, position)
            writer.forget_before(shard.name, begins_at)
        except LogDiffers:
            done.again.append(shard.name)
            position = None
    if position is None:
        writer.begin(shard.name, begins_at)
        found = batches_after(shard, end, NOTHING)
    for batch, place in found:
        header = batch[2]
        writer.take(shard.name, batch, place)
        done.records += header.count
        done.bytes += header.size
    writer.reach(shard.name, begins_at)


class _From(NamedTuple):
    """The first file to read, and the position of the first batch in it."""

    file: int
    position: int


def _resume(shard: JobShard, files: Sequence[InputFile], position: Position) -> _From:
    """Return what comes after a position. Raises LogDiffers."""
    if position.last_base < 0:
        return _From(0, 0)
    name, _, at = position.place.rpartition(":")
    for number, file in enumerate(files):
        if Path(file.path).name == name:
            header = _header_at(file, int(at))
            if header is None or (header.base_offset, header.crc) != (position.last_base, position.last_crc):
                break
            return _From(number, int(at) + header.size) if position.next_offset < file.to_offset else _From(number + 1, 0)
        # What was removed cannot be compared.
        if file.is_dense and file.begin == position.next_offset and not any(each.is_dense for each in files[:number]):
            return _From(number, 0)
    else:
        if not files or files[-1].to_offset <= position.next_offset:
            return _From(len(files), 0)
    raise LogDiffers(f"{shard.name} has another batch before offset {position.next_offset} than the one that was read")


def _header_at(file: InputFile, position: int) -> BatchHeader | None:
    with Path(file.path).open("rb") as opened:
        opened.seek(position)
        head = opened.read(HEADER_SIZE)
    try:
        return read_header(head)
    except DecodeError:
        return None


def _read(files: Sequence[InputFile], begin: _From, end: int) -> Iterator[Placed]:
    start = begin.position
    for file in files[begin.file :]:
        name = Path(file.path).name if file.is_dense else ""
        for batch in read_batches(file, start):
            if batch[2].base_offset < end:
                yield Placed(batch, f"{name}:{start + batch[1]}")
        start = 0
