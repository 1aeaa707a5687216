"""Read a shard while it is written: from an offset, or from a time.

A reader gets what was durable when it began: the newest layer, and the segments after its end. It
holds the layer and its first segment. Retention removes segments from the oldest on and stops at
one that is held, so it leaves all that the reader needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from coordinator_server.log.errors import DamagedLog, Unavailable
from coordinator_server.log.file_names import segment_path
from coordinator_server.log.layers.checkpoint import Checkpoint
from coordinator_server.log.layers.layer import MANIFEST, Layer, layer_to_load, layer_with_checkpoint, newest_valid_layer
from coordinator_server.log.read.segment_reader import Span, read_spans
from coordinator_server.log.storage import Lock, Storage
from coordinator_server.log.store import Check, TimedOffset
from coordinator_server.log.write.segment_index import NO_TIME
from coordinator_server.log.write.segments import Segments, ShardLog
from protocol.record_batch import iter_records, read_header


def no_check() -> None:
    """Let a search go on to its end."""


def read_from(storage: Storage, log: ShardLog, from_offset: int) -> Iterator[bytes]:
    """Return the durable batches in offset order, from the one that holds ``from_offset``."""
    while True:
        segments = _segments_of(log)
        layer = layer_from(storage, log, segments.bases, from_offset)
        try:
            of_segments = _read_segments(storage, log, segments, max(from_offset, layer.to_offset if layer else 0))
            of_layer = _held(storage.share(str(layer.path / MANIFEST)), layer.read(from_offset)) if layer else iter(())
        except FileNotFoundError:
            if segments.bases == log.bases() and (layer is None or storage.exists(str(layer.path))):
                raise
            continue  # Retention was faster.
        return chain(of_layer, of_segments)


def open_checkpoint(storage: Storage, log: ShardLog) -> Checkpoint | None:
    """Return the checkpoint of the newest layer, if no segment after it is missing. DamagedLog if it differs from its manifest.

    The layer is held as long as the checkpoint is open, because its records replace a damaged block.
    """
    while True:
        layer = layer_with_checkpoint(Path(log.directory), log.bases(), storage)
        if layer is None:
            return None
        try:
            hold = storage.share(str(layer.path / MANIFEST))
        except FileNotFoundError:
            continue  # Retention was faster.
        return Checkpoint(layer, hold)


def offset_for_time(storage: Storage, log: ShardLog, timestamp_ms: int, check: Check = no_check) -> TimedOffset | None:
    """Return the first record whose timestamp is ``timestamp_ms`` or later; None if there is none.

    Only the segment that has it is read, from the last mark before it. If the segments begin after
    offset 0, the layer before them is read, too.
    """
    segments = _segments_of(log)
    first = segments.bases[0] if segments.bases else segments.end
    if first:
        found = _first_at(read_from(storage, log, 0), timestamp_ms, first, check)
        if found:
            return found
    for base in segments.bases:
        index = log.index(base)
        if index.max_ms >= timestamp_ms:
            mark = index.before_time(timestamp_ms)
            batches = _read_segments(storage, log, segments, mark.offset if mark else base)
            found = _first_at(batches, timestamp_ms, segments.end, check)
            if found:
                return found
    return None


def latest_time(storage: Storage, log: ShardLog, check: Check = no_check) -> TimedOffset | None:
    """Return the first record with the largest timestamp of all; None if there is no record."""
    segments = _segments_of(log)
    latest = max((log.index(base).max_ms for base in segments.bases), default=NO_TIME)
    first = segments.bases[0] if segments.bases else segments.end
    if first:
        for data in read_from(storage, log, 0):
            check()
            header = read_header(data)
            if header.base_offset >= first:
                break
            latest = max(latest, header.max_timestamp)
    return offset_for_time(storage, log, latest, check) if latest != NO_TIME else None


def end_time(storage: Storage, log: ShardLog) -> int:
    """Return the timestamp of the last batch: in the segments, or else in the newest layer. NO_TIME if there is none."""
    segments = _segments_of(log)
    if segments.bases and segments.bases[0] < segments.end:
        # Damage in segments that a layer replaces stops no start. Retention may be faster.
        with suppress(DamagedLog, FileNotFoundError):
            *_, last = _read_segments(storage, log, segments, segments.end - 1)
            return read_header(last).max_timestamp
    layer = newest_valid_layer(Path(log.directory), storage=storage)
    return NO_TIME if layer is None else layer.end_time()


def _first_at(batches: Iterator[bytes], timestamp_ms: int, before: int, check: Check) -> TimedOffset | None:
    for data in batches:
        check()
        header = read_header(data)
        if header.base_offset >= before:
            break
        if header.max_timestamp >= timestamp_ms:
            for record in iter_records(data, 0, header):
                if record.timestamp >= timestamp_ms:
                    return TimedOffset(record.offset, record.timestamp)
    return None


def _segments_of(log: ShardLog) -> Segments:
    try:
        return log.segments()
    except OSError as error:
        raise Unavailable(f"cannot write what is to be read of {log.shard}: {error}") from error


def layer_from(storage: Storage, log: ShardLog, bases: list[int], from_offset: int) -> Layer | None:
    """Return the layer to begin with; None if every layer ends at ``from_offset`` or before."""
    directory = Path(log.directory)
    layer = newest_valid_layer(directory, storage=storage)
    if layer is None or layer.to_offset <= from_offset:
        return None
    layer = layer_to_load(directory, bases, storage=storage)
    return layer if layer is not None and layer.to_offset > from_offset else None


def _read_segments(storage: Storage, log: ShardLog, segments: Segments, start: int) -> Iterator[bytes]:
    spans = _spans(storage, log, segments, start)
    if not spans:
        return iter(())
    if spans[0].offset > start:
        raise DamagedLog(spans[0].path, 0, f"offsets {start} to {spans[0].offset} before it are missing")
    return _held(storage.share(spans[0].path), read_spans(storage, spans, start))


def _held(hold: Lock, batches: Iterator[bytes]) -> Iterator[bytes]:
    yield from batches
    hold.close()


def _spans(storage: Storage, log: ShardLog, segments: Segments, start: int) -> list[Span]:
    bases, size, end = segments
    spans = []
    for base, stop in zip(bases, [*bases[1:], end], strict=True):
        if stop > start:
            path = segment_path(log.directory, base)
            spans.append(Span(path, base, 0, size if base == bases[-1] else storage.size(path)))
    if spans and spans[0].offset < start:
        mark = log.index(spans[0].offset).before_offset(start)
        if mark is not None:
            spans[0] = Span(spans[0].path, mark.offset, mark.position, spans[0].end)
    return spans
