"""The batches and records of the files that a job reads (``log/jobs.py``).

Sealed segments never change, so a job reads them without a lock while the server runs. The open one is read up to an offset that
the server has confirmed. The offsets in a segment have no gaps; those in a layer do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile, JobShard, Layer
from coordinator_server.log.opening import input_file
from protocol.errors import DecodeError
from protocol.record_batch import (
    HEADER_SIZE,
    HEADER_TIMES,
    LOG_APPEND_TIME,
    BatchHeader,
    Record,
    iter_records,
    iter_windows,
)

# Limit for one batch after decompression: Kafka's batches have about a megabyte, and offsets compress well.
_MAX_EXPANDED: Final = 1 << 28
WINDOW_BYTES: Final = 1 << 20
"""The bytes of a file that are in memory, for readers of large logs."""


def stands_for_lost(header: BatchHeader, layer: Layer | None) -> bool:
    """Return whether a batch of ``full_input`` is one that salvage has put where it found nothing."""
    return header.is_lost and (layer is None or header.base_offset >= layer.to_offset)


def read_batches(file: InputFile, start: int = 0) -> Iterator[tuple[bytes, int, BatchHeader]]:
    """Verify and return the batches of a file, as (bytes of the file, position, header). Raises DamagedLog.

    With ``start``, the position of a batch, those from there on; the bytes and the positions begin there.
    """
    for data, position, header, _ in read_windows(file, start, window=sys.maxsize):
        yield data, position, header


def read_windows(file: InputFile, start: int = 0, window: int = WINDOW_BYTES) -> Iterator[tuple[bytes, int, BatchHeader, int]]:
    """Do the same with some of the bytes in memory: (bytes, position in them, header, position in the file).

    They are ``window`` bytes; more if a batch is larger.
    """
    expected, is_dense = file.begin, file.is_dense and not start
    with input_file(file.path).open("rb") as opened:
        end = os.fstat(opened.fileno()).st_size if file.end < 0 else file.end

        def pread(size: int, position: int) -> bytes:
            opened.seek(position)
            return opened.read(min(size, end - position))

        try:
            for data, position, header, at in iter_windows(pread, window, file.start + start):
                if header.base_offset < expected or (is_dense and header.base_offset > expected):
                    why = f"the batch starts at offset {header.base_offset}, not at {expected}"
                    raise DamagedLog(file.path, at, why)
                expected, is_dense = header.next_offset, file.is_dense
                yield data, position, header, at
                if file.is_open and expected >= file.to_offset:
                    return
        except DecodeError as error:
            raise DamagedLog(file.path, error.position or 0, error.reason) from error
    if expected > file.to_offset or (is_dense and expected < file.to_offset):
        raise DamagedLog(file.path, end, f"the file ends at offset {expected}, not at {file.to_offset}")


def batches_before(files: Iterable[InputFile], upto: int) -> Iterator[tuple[bytes, int, BatchHeader]]:
    """Return the batches of files that start before ``upto``, as (some bytes of the file, position in them, header)."""
    for file in files:
        for data, position, header, _ in read_windows(file):
            if header.base_offset < upto:
                yield data, position, header


def files_since(files: Sequence[InputFile], at_ms: int) -> list[InputFile]:
    """Return the files, from the last one on that begins before a moment. The batches of a shard are in the order of time."""
    for index in reversed(range(len(files))):
        with input_file(files[index].path).open("rb") as file:
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


def offset_at(shard: JobShard, at_ms: int, upto: int) -> int:
    """Return the offset of the first record before ``upto`` that was appended after ``at_ms``; ``upto`` if there is none."""
    for batch in batches_before(shard.whole(upto)[1], upto):
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
