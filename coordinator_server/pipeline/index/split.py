"""Divides the batches of a shard of groups by group, as Kafka's cleaner would if it kept the records of one group.

A part has the header of its batch: offsets, times, leader epoch and producer stay. The further records of an operation have no
headers, and say by their place whose they are. In a part that place may be lost; then the headers of the operation are added.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from protocol.batch_builder import BatchBuilder, batch_like
from protocol.coordinator_records import GROUP_SERDE
from protocol.record_batch import HEADER_SIZE, BatchHeader, Headers, Record, iter_records, read_record

_TYPE_BYTES: Final = 2
_ID_START: Final = 4
_TYPES: Final = frozenset(GROUP_SERDE.types)


class Part(NamedTuple):
    """The records of one group in a batch, as a batch of their own."""

    group_id: str
    batch: bytes


def group_of(key: bytes | None) -> str | None:
    """Return the group of a record: every key of the log of groups begins with it. None for unknown types."""
    if key is None or len(key) < _ID_START or int.from_bytes(key[:_TYPE_BYTES]) not in _TYPES:
        return None
    end = _ID_START + int.from_bytes(key[_TYPE_BYTES:_ID_START])
    return key[_ID_START:end].decode(errors="replace")


class _Records(Struct):
    """The encoded records of one group."""

    pieces: list[bytes] = []
    next_offset: int = -1


def split(data: bytes, position: int, header: BatchHeader) -> list[Part]:
    """Return the parts of a verified batch that is no control batch. Raises DecodeError."""
    if not header.compression:
        groups = {group_of(record.key) for record in iter_records(data, position, header, with_headers=False)}
        if len(groups) == 1 and (only := groups.pop()) is not None:
            return [Part(only, data[position : position + header.size])]
    found: dict[str, _Records] = {}
    operation: Headers = ()
    next_offset = timestamp = -1
    for record, raw in _raw_records(data, position, header):
        if record.headers:
            operation = record.headers
        elif record.offset != next_offset or record.timestamp != timestamp:
            operation = ()
        next_offset, timestamp = record.offset + 1, record.timestamp
        group_id = group_of(record.key)
        if group_id is None:
            continue
        records = found.setdefault(group_id, _Records())
        if operation and not record.headers and records.next_offset != record.offset:
            raw = _encoded(replace(record, headers=tuple(operation)), header)
        records.pieces.append(raw)
        records.next_offset = next_offset
    return [Part(group_id, batch_like(header, b"".join(each.pieces), len(each.pieces))) for group_id, each in found.items()]


def _raw_records(data: bytes, position: int, header: BatchHeader) -> Iterator[tuple[Record, bytes]]:
    """Return the records with their encoded forms."""
    if header.compression:
        for record in iter_records(data, position, header):
            yield record, _encoded(record, header)
        return
    pos, end = position + HEADER_SIZE, position + header.size
    for _ in range(header.count):
        start = pos
        record, pos = read_record(data, start, end, header, with_headers=True)
        yield record, data[start:pos]


def _encoded(record: Record, header: BatchHeader) -> bytes:
    builder = BatchBuilder(header.base_offset, header.base_timestamp)
    builder.append_record(record)
    return builder.finish()[HEADER_SIZE:]
