"""Read batches from segments: verified, in order, none missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final, NamedTuple

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.storage import File, Storage
from protocol.errors import DecodeError, Truncated
from protocol.record_batch import BatchHeader, iter_batches

READ_BYTES: Final = 1 << 20


class Span(NamedTuple):
    """The bytes of a segment from ``start``, where the batch at ``offset`` begins, to ``end``."""

    path: str
    offset: int
    start: int
    end: int


class Batch(NamedTuple):
    """A verified batch and where it is."""

    position: int
    header: BatchHeader
    data: bytes


def read_spans(storage: Storage, spans: list[Span], from_offset: int) -> Iterator[bytes]:
    """Yield the batches of consecutive spans, from the one that holds ``from_offset``.

    DamagedLog if one is damaged or missing.
    """
    expected = spans[0].offset if spans else 0
    for span in spans:
        if span.offset != expected:
            raise DamagedLog(span.path, span.start, f"offsets {expected} to {span.offset} are missing before it")
        for batch in read_span(storage, span):
            expected = batch.header.next_offset
            if expected > from_offset:
                yield batch.data


def read_span(storage: Storage, span: Span) -> Iterator[Batch]:
    """Yield every batch of a span. DamagedLog if one is damaged or missing."""
    if span.start == span.end:
        return
    with closing(storage.open(span.path)) as file:
        yield from _read(file, span)


def _read(file: File, span: Span) -> Iterator[Batch]:
    position, expected, wanted = span.start, span.offset, READ_BYTES
    while position < span.end:
        data = file.pread(min(wanted, span.end - position), position)
        used = 0
        try:
            for start, header in iter_batches(data):
                if header.base_offset != expected:
                    raise DamagedLog(
                        span.path, position + start, f"a batch at offset {header.base_offset} where {expected} comes next"
                    )
                used = start + header.size
                expected = header.next_offset
                yield Batch(position + start, header, data[start:used])
        except Truncated as error:
            if len(data) < wanted:
                raise DamagedLog(span.path, position + used, error.reason) from error
        except DecodeError as error:
            raise DamagedLog(span.path, position + used, error.reason) from error
        # A batch that is larger than one read needs a larger one.
        wanted = READ_BYTES if used else 2 * wanted
        position += used
