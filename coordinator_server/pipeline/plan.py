"""What there is to compact in a data directory: which shards, which files of each, up to which offset.

A shard's segments are sealed, all but the one with the highest base offset; sealed ones never change, so they are read without a lock
while the server runs. Offsets of segments are dense; those of layers have gaps.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.kinds import kind_of
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.layers import (
    MANIFEST,
    FileEntry,
    Layer,
    file_entry,
    layer_offsets,
    layer_to_load,
    newest_valid_layer,
    open_layer,
)
from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader, iter_batches, iter_records

_SHARD: Final = re.compile(r"(.+)-(\d+)")
_SEGMENT: Final = re.compile(r"(\d{20})\.log")


class Source(Struct, frozen=True):
    """One file to read. Only records from ``from_offset`` on count; a dense file covers ``[base, to_offset)`` without a gap."""

    path: str
    from_offset: int
    to_offset: int
    is_dense: bool


class ShardPlan(Struct, frozen=True):
    """One shard's work: everything before ``to_offset`` becomes one layer."""

    directory: str
    to_offset: int

    @property
    def shard(self) -> str:
        return Path(self.directory).name


def shard_directories(data_dir: Path) -> list[Path]:
    """The directories of all shards of the kinds there are, by topic and number."""
    return [path for path in _named_like_shards(data_dir) if kind_of(path.name) is not None]


def unknown_directories(data_dir: Path) -> list[Path]:
    """What is named like a shard, and is of no kind that this version knows."""
    return [path for path in _named_like_shards(data_dir) if kind_of(path.name) is None]


def _named_like_shards(data_dir: Path) -> list[Path]:
    named = [(match, path) for path in data_dir.iterdir() if (match := _SHARD.fullmatch(path.name)) and path.is_dir()]
    return [path for _, path in sorted(named, key=lambda item: (item[0][1], int(item[0][2])))]


def segment_bases(shard_dir: Path) -> list[int]:
    """Base offsets of the segments, ascending; the last one is not sealed."""
    names = (_SEGMENT.fullmatch(entry.name) for entry in shard_dir.iterdir())
    return sorted(int(name[1]) for name in names if name)


def plan_shard(shard_dir: Path, sealed_to: int | None = None) -> ShardPlan | None:
    """What to do for a shard; None when nothing was sealed since its newest layer.

    ``sealed_to`` is how far whoever sealed vouches for: a running server may be about to seal more.
    """
    bases = [base for base in segment_bases(shard_dir) if sealed_to is None or base <= sealed_to]
    newest = newest_valid_layer(shard_dir)
    if not bases or bases[-1] <= (newest.to_offset if newest is not None else 0):
        return None
    return ShardPlan(str(shard_dir), bases[-1])


def input_bytes(plan: ShardPlan) -> int:
    """About how much there is to read. Checks nothing."""
    shard_dir = Path(plan.directory)
    layer = newest_valid_layer(shard_dir, plan.to_offset)
    found = _from_layer_on(shard_dir, layer, segment_bases(shard_dir), plan.to_offset)
    return sum(Path(source.path).stat().st_size for source in found)


def sources(shard_dir: Path, upto: int) -> tuple[Layer | None, list[Source]]:
    """The layer and the sealed segments after it that hold the records before ``upto``, in offset order."""
    bases = segment_bases(shard_dir)
    layer = layer_to_load(shard_dir, bases, upto=upto)
    return layer, _from_layer_on(shard_dir, layer, bases, upto)


def full_sources(shard_dir: Path, upto: int) -> tuple[Layer | None, list[Source]]:
    """The whole history before ``upto``: every segment that is left, after the oldest layer that reaches the first one, where the beginning is gone."""
    bases = segment_bases(shard_dir)
    layer = None if not bases or bases[0] == 0 else _oldest_layer(shard_dir, bases[0], upto)
    return layer, _from_layer_on(shard_dir, layer, bases, upto)


def _from_layer_on(shard_dir: Path, layer: Layer | None, bases: Sequence[int], upto: int) -> list[Source]:
    """The files of a layer, then the sealed segments behind it, as far as they hold records before ``upto``."""
    start = layer.to_offset if layer is not None else 0
    found = [Source(str(path), 0, start, is_dense=False) for path in layer.files()] if layer is not None else []
    for base, end in itertools.pairwise(bases):
        if base < upto and end > start:
            found.append(Source(str(shard_dir / f"{base:020d}.log"), start, end, is_dense=True))
    return found


def _oldest_layer(shard_dir: Path, first_base: int, upto: int) -> Layer:
    for to_offset in reversed(layer_offsets(shard_dir)):
        if first_base <= to_offset <= upto:
            layer = open_layer(shard_dir, to_offset)
            layer.verify()
            return layer
    raise DamagedLog(
        str(shard_dir / f"{first_base:020d}.log"), 0, "records before this segment are missing, and no layer has them"
    )


def batches_before(found: Iterable[Source], upto: int) -> Iterator[tuple[bytes, int, BatchHeader]]:
    """The batches of files that begin before ``upto``, as (bytes, position, header)."""
    for source in found:
        for data, position, header in read_batches(source):
            if header.base_offset < upto:
                yield data, position, header


def offset_at(shard_dir: Path, at_ms: int, upto: int) -> int:
    """The offset of the first record before ``upto`` that was appended later than ``at_ms``; ``upto`` when there is none."""
    for batch in batches_before(full_sources(shard_dir, upto)[1], upto):
        offset = first_after(*batch, at_ms)
        if offset is not None:
            return offset
    return upto


def first_after(data: bytes, position: int, header: BatchHeader, at_ms: int) -> int | None:
    """The offset of a batch's first record that was appended later than ``at_ms``."""
    if header.max_timestamp <= at_ms:
        return None
    records = iter_records(data, position, header, with_headers=False)
    return next((record.offset for record in records if record.timestamp > at_ms), None)


def input_entries(layer: Layer | None, found: Sequence[Source]) -> list[FileEntry]:
    """What a manifest says of the files a layer was made from; a layer's own manifest stands for its files."""
    manifest = [file_entry(layer.path / MANIFEST, f"{layer.path.name}/{MANIFEST}")] if layer is not None else []
    return manifest + [file_entry(Path(source.path), Path(source.path).name) for source in found if source.is_dense]


def read_batches(source: Source) -> Iterator[tuple[bytes, int, BatchHeader]]:
    """The verified batches of one file, as (bytes, position, header)."""
    path = Path(source.path)
    data = path.read_bytes()
    expected = int(path.stem) if source.is_dense else 0
    position = 0
    try:
        for position, header in iter_batches(data):
            if header.base_offset < expected or (source.is_dense and header.base_offset > expected):
                raise DamagedLog(source.path, position, f"the batch starts at offset {header.base_offset}, not at {expected}")
            expected = header.next_offset
            yield data, position, header
            position += header.size
    except DecodeError as error:
        raise DamagedLog(source.path, position if error.position is None else error.position, error.reason) from error
    if expected > source.to_offset or (source.is_dense and expected < source.to_offset):
        raise DamagedLog(source.path, len(data), f"the file ends at offset {expected}, not at {source.to_offset}")
