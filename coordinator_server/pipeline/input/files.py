"""The files of a shard that a job reads, and the batches and records in them.

Sealed segments never change, so a job reads them without a lock while the server runs. The segment with the highest base
offset is not sealed and is not read. The offsets in a segment have no gaps; those in a layer do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import layer_offsets, segment_path
from coordinator_server.log.layers.layer import Layer, layer_to_load, newest_valid_layer, open_layer
from coordinator_server.pipeline.input.shards import segment_bases
from protocol.errors import DecodeError
from protocol.record_batch import (
    HEADER_SIZE,
    HEADER_TIMES,
    LOG_APPEND_TIME,
    BatchHeader,
    Record,
    iter_batches,
    iter_records,
)

# Limit for one batch after decompression: Kafka's batches have about a megabyte, and offsets compress well.
_MAX_EXPANDED: Final = 1 << 28


class InputFile(Struct, frozen=True):
    """A file to read. Records before ``from_offset`` are skipped.

    A dense file, a segment, holds every offset from the one it is named for up to ``to_offset``.
    """

    path: str
    from_offset: int
    to_offset: int
    is_dense: bool


def compacted_input(shard_dir: Path, upto: int) -> tuple[Layer | None, list[InputFile]]:
    """Return the newest layer and the files that a start would read for the offsets before ``upto``, in offset order."""
    bases = segment_bases(shard_dir)
    layer = layer_to_load(shard_dir, bases, upto=upto)
    return layer, _from_layer_on(shard_dir, layer, bases, upto)


def full_input(shard_dir: Path, upto: int) -> tuple[Layer | None, list[InputFile]]:
    """Return the files of the whole history before ``upto``: all segments there are.

    If the first segments were removed, the oldest layer that replaces them comes first.
    """
    bases = segment_bases(shard_dir)
    layer = None if not bases or bases[0] == 0 else _oldest_layer(shard_dir, bases[0], upto)
    return layer, _from_layer_on(shard_dir, layer, bases, upto)


def input_after_loss(shard_dir: Path, lost_to: int, upto: int) -> tuple[Layer | None, list[InputFile]] | None:
    """Return the oldest layer behind records that salvage has not found, and the files after it; None if there is no such layer."""
    try:
        layer = _oldest_layer(shard_dir, lost_to, upto)
    except DamagedLog:
        return None
    return layer, _from_layer_on(shard_dir, layer, segment_bases(shard_dir), upto)


def stands_for_lost(header: BatchHeader, layer: Layer | None) -> bool:
    """Return whether a batch of ``full_input`` is one that salvage has put where it found nothing."""
    return not header.count and not header.is_control and (layer is None or header.base_offset >= layer.to_offset)


def input_bytes(shard_dir: Path, upto: int) -> int:
    """Estimate the size of ``compacted_input`` from names and sizes, without checking any file."""
    layer = newest_valid_layer(shard_dir, upto)
    found = _from_layer_on(shard_dir, layer, segment_bases(shard_dir), upto)
    return sum(Path(file.path).stat().st_size for file in found)


def read_batches(file: InputFile) -> Iterator[tuple[bytes, int, BatchHeader]]:
    """Verify and return the batches of a file, as (bytes of the file, position, header). Raises DamagedLog."""
    path = Path(file.path)
    data = path.read_bytes()
    expected = int(path.stem) if file.is_dense else 0
    position = 0
    try:
        for position, header in iter_batches(data):
            if header.base_offset < expected or (file.is_dense and header.base_offset > expected):
                raise DamagedLog(file.path, position, f"the batch starts at offset {header.base_offset}, not at {expected}")
            expected = header.next_offset
            yield data, position, header
            position += header.size
    except DecodeError as error:
        raise DamagedLog(file.path, position if error.position is None else error.position, error.reason) from error
    if expected > file.to_offset or (file.is_dense and expected < file.to_offset):
        raise DamagedLog(file.path, len(data), f"the file ends at offset {expected}, not at {file.to_offset}")


def batches_before(files: Iterable[InputFile], upto: int) -> Iterator[tuple[bytes, int, BatchHeader]]:
    """Return the batches of files that start before ``upto``, as (bytes of the file, position, header)."""
    for file in files:
        for data, position, header in read_batches(file):
            if header.base_offset < upto:
                yield data, position, header


def files_since(files: Sequence[InputFile], at_ms: int) -> list[InputFile]:
    """Return the files, from the last one on that begins before a moment. The batches of a shard are in the order of time."""
    for index in reversed(range(len(files))):
        with Path(files[index].path).open("rb") as file:
            head = file.read(HEADER_SIZE)
        if len(head) == HEADER_SIZE and min(HEADER_TIMES.unpack_from(head)[1:]) < at_ms:
            return list(files[index:])
    return list(files)


def records_of(data: bytes, position: int, header: BatchHeader, *, with_headers: bool = True) -> Iterator[Record]:
    """Return the records of a verified batch, decompressed, with the timestamps that Kafka would report. Raises DecodeError."""
    try:
        for record in iter_records(data, position, header, _MAX_EXPANDED, with_headers=with_headers):
            if header.attributes & LOG_APPEND_TIME:
                record.timestamp = header.max_timestamp
            yield record
    except DecodeError as error:
        if header.compression:
            # A position in the decompressed bytes is no position in the file.
            error.position = None
        raise


def offset_at(shard_dir: Path, at_ms: int, upto: int) -> int:
    """Return the offset of the first record before ``upto`` that was appended after ``at_ms``; ``upto`` if there is none."""
    for batch in batches_before(full_input(shard_dir, upto)[1], upto):
        offset = first_after(*batch, at_ms)
        if offset is not None:
            return offset
    return upto


def first_after(data: bytes, position: int, header: BatchHeader, at_ms: int) -> int | None:
    """Return the offset of a batch's first record that was appended after ``at_ms``."""
    if header.max_timestamp <= at_ms:
        return None
    records = iter_records(data, position, header, with_headers=False)
    return next((record.offset for record in records if record.timestamp > at_ms), None)


def _from_layer_on(shard_dir: Path, layer: Layer | None, bases: Sequence[int], upto: int) -> list[InputFile]:
    """Return the files of a layer, then the sealed segments after it that hold offsets before ``upto``."""
    start = layer.to_offset if layer is not None else 0
    found = [InputFile(str(path), 0, start, is_dense=False) for path in layer.files()] if layer is not None else []
    for base, end in itertools.pairwise(bases):
        if base < upto and end > start:
            found.append(InputFile(segment_path(str(shard_dir), base), start, end, is_dense=True))
    return found


def _oldest_layer(shard_dir: Path, first_base: int, upto: int) -> Layer:
    for to_offset in reversed(layer_offsets(shard_dir)):
        if first_base <= to_offset <= upto:
            layer = open_layer(shard_dir, to_offset)
            layer.verify()
            return layer
    raise DamagedLog(
        segment_path(str(shard_dir), first_base), 0, "records before this segment are missing, and no layer has them"
    )
