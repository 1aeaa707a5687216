"""Divides files of a log into pieces of whole batches: as much of a file as is read into columns at a time.

The columns of a record take about 80 bytes, and several times that while they are decoded, whatever the size of the file is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from coordinator_server.log.jobs import InputFile
from coordinator_server.log.opening import input_file
from coordinator_server.pipeline.input.columns import (
    BatchColumns,
    Bytes,
    Columns,
    batches_before,
    map_file,
    read_batch_columns,
    read_columns,
)
from protocol.record_batch import HEADER_OFFSETS, HEADER_SIZE, LENGTH_END

PIECE_BYTES: Final = 16 << 20


def pieces(file: InputFile) -> list[InputFile]:
    """Return the pieces of a file in offset order; one of a small file. Damage is left to whoever reads them."""
    data = map_file(input_file(file.path))
    if file.is_open:
        data = batches_before(data, file.to_offset)
    # The position and the base offset at which each piece begins.
    begins = [(0, file.begin)]
    for position, base_offset in _batches(data) if len(data) > PIECE_BYTES else ():
        if position - begins[-1][0] >= PIECE_BYTES:
            begins.append((position, base_offset))
    ends = [*begins[1:], (len(data), file.to_offset)]
    return [
        replace(file, begin=begin, to_offset=to_offset, is_open=False, start=start, end=end)
        for (start, begin), (end, to_offset) in zip(begins, ends, strict=True)
    ]


def size_of(piece: InputFile) -> int:
    """Return the number of bytes of a piece."""
    return piece.end - piece.start


def columns_of(piece: InputFile) -> Columns:
    """Return the columns of a piece, with what is before ``from_offset``. Raises Irregular."""
    return read_columns(map_piece(piece), _first(piece), piece.to_offset)


def batch_columns_of(piece: InputFile, attributes: Sequence[int]) -> BatchColumns:
    """Return all records and batches of a piece, which may have some attributes. Raises Irregular."""
    return read_batch_columns(map_piece(piece), _first(piece), piece.to_offset, attributes)


def map_piece(piece: InputFile) -> Bytes:
    """Map the bytes of a piece: they are read when they are first used."""
    return map_file(input_file(piece.path))[piece.start : piece.end]


def _first(piece: InputFile) -> int | None:
    return piece.begin if piece.is_dense else None


def neighbours(files: Sequence[InputFile], size: Callable[[InputFile], int], most_bytes: int) -> Iterator[list[InputFile]]:
    """Divide files into groups of neighbours. The newest group comes first; in a group the oldest file does."""
    group: list[InputFile] = []
    total = 0
    for file in reversed(files):
        added = size(file)
        if group and total + added > most_bytes:
            yield group[::-1]
            group, total = [], 0
        group.append(file)
        total += added
    if group:
        yield group[::-1]


def _batches(data: Bytes) -> Iterator[tuple[int, int]]:
    """Return the position and the base offset of each batch, as far as they follow each other."""
    position, view = 0, data.data
    while position + HEADER_SIZE <= len(data):
        base_offset, length, _ = HEADER_OFFSETS.unpack_from(view, position)
        yield position, base_offset
        position += LENGTH_END + max(length, HEADER_SIZE - LENGTH_END)
