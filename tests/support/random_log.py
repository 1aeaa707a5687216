"""Random logs of the group coordinator's, with everything in them that one may hold, as hypothesis draws them.

Few groups, positions and producers, so that records of one key and one transaction meet: commits, tombstones and legacy keys,
group metadata, records of imported groups, types that nobody knows, batches that are compressed, that say LogAppendTime, that
have no records, or that belong to a transaction, and markers.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import cramjam
from crc32c import crc32c
from hypothesis import strategies as st

from protocol.batch_builder import BatchBuilder, empty_batch
from protocol.compression import GZIP, LZ4, SNAPPY, ZSTD
from protocol.coordinator_records import GROUP_SERDE
from protocol.record_batch import CONTROL, HEADER_SIZE, TRANSACTIONAL, Record
from tests.support.imported import imported_records
from tests.support.segments import START_MS, group_key, group_value, offset_key, offset_value, text

COMPRESS: Final[dict[int, Any]] = {
    GZIP: cramjam.gzip.compress,
    LZ4: cramjam.lz4.compress,
    ZSTD: cramjam.zstd.compress,
    SNAPPY: cramjam.snappy.compress_raw,
}
PRODUCERS: Final = (40, 41)
SPAN_MS: Final = 100
LOG_APPEND_TIME: Final = 0x08
_LEGACY: Final = b"\0\0"

_positions = st.tuples(st.sampled_from(("g", "h")), st.just("t"), st.integers(0, 2))
_values = st.builds(offset_value, st.integers(0, 99), st.sampled_from(("", "noted", "x" * 200)))
_commits = st.tuples(st.builds(lambda at: offset_key(*at), _positions), _values)
_buried = st.tuples(st.builds(lambda at: offset_key(*at), _positions), st.none())
_legacy_value = st.builds(
    lambda offset: struct.pack(">hq", 0, offset) + text("old") + struct.pack(">q", START_MS), st.integers(0, 99)
)
_legacy = st.tuples(st.builds(lambda at: _LEGACY + offset_key(*at)[2:], _positions), st.none() | _legacy_value)
_groups = st.tuples(
    st.builds(group_key, st.sampled_from(("g", "h"))),
    st.none() | st.builds(group_value, st.integers(0, 9), st.lists(st.sampled_from(("m-1", "n-2")), unique=True)),
)
_imported = imported_records("gh").map(lambda record: (GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record)))
_unknown = st.tuples(st.sampled_from((b"\0\x63a", b"\0\x63b", b"\x7f\x01")), st.none() | st.binary(max_size=9))
_pairs = st.one_of(_commits, _commits, _commits, _buried, _buried, _legacy, _groups, _imported, _unknown)
# What a transaction holds: Kafka writes commits only; replay has rules for the rest.
_in_transaction = st.one_of(*[_commits] * 9, _buried, _legacy, _groups, _imported, _unknown)
_headers = st.lists(st.tuples(st.sampled_from(("why", "op")), st.none() | st.binary(max_size=3)), max_size=1).map(tuple)


def _rows(pairs: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.tuples(pairs, st.integers(0, SPAN_MS), _headers), min_size=1, max_size=5)


_codecs = st.sampled_from((0, 0, 0, 0, 0, *COMPRESS))
_flags = st.sampled_from((0, 0, 0, 0, 0, LOG_APPEND_TIME))
_plain = st.tuples(st.just("plain"), _rows(_pairs), _codecs, _flags, st.integers(0, 1))
_of_producer = st.tuples(st.just("open"), st.sampled_from(PRODUCERS), _rows(_in_transaction), _codecs)
_marker = st.tuples(st.just("end"), st.sampled_from(PRODUCERS), st.integers(0, 1), st.integers(0, SPAN_MS))
_empty = st.tuples(st.just("empty"), st.integers(1, 3))
_steps = st.one_of(_plain, _plain, _plain, _of_producer, _of_producer, _marker, _marker, _empty)


def logs(most: int = 30, *, with_transactions: bool = True, for_columns: bool = False) -> st.SearchStrategy[list[bytes]]:
    """The batches of a log, from offset 0 on, none missing. With ``for_columns`` it has only what can be read as columns."""
    steps = st.lists(_steps if with_transactions else st.one_of(_plain, _plain, _empty), min_size=1, max_size=most)
    return (steps.map(_for_columns) if for_columns else steps).map(_encoded)


def _for_columns(steps: list[Any]) -> list[Any]:
    """The same steps without compression, LogAppendTime and legacy keys."""

    def present(rows: list[Any]) -> list[Any]:
        return [
            ((b"\0\1" + key[2:], None), *more) if key[:2] == _LEGACY else ((key, value), *more) for (key, value), *more in rows
        ]

    found: list[Any] = []
    for step in steps:
        match step:
            case ("plain", rows, _, _, more):
                found.append(("plain", present(rows), 0, 0, more))
            case ("open", producer, rows, _):
                found.append(("open", producer, present(rows), 0))
            case _:
                found.append(step)
    return found


def write_log(shard_dir: Path, batches: Sequence[bytes], segments: int) -> int:
    """Spread batches over sealed segments, behind those that are there; the end offset. An empty active one follows."""
    shard_dir.mkdir(parents=True, exist_ok=True)
    known = sorted(shard_dir.glob("*.log"))
    if known and not known[-1].stat().st_size:
        known[-1].unlink()
    size = max(1, -(-len(batches) // segments))
    end = 0
    for first in range(0, len(batches), size):
        part = batches[first : first + size]
        (shard_dir / f"{base_of(part[0]):020d}.log").write_bytes(b"".join(part))
        end = end_of(part[-1])
    (shard_dir / f"{end:020d}.log").touch()
    return end


def base_of(batch: bytes) -> int:
    """Its first offset."""
    return int.from_bytes(batch[:8])


def end_of(batch: bytes) -> int:
    """The offset behind it."""
    return base_of(batch) + int.from_bytes(batch[23:27]) + 1


def packed(batch: bytes, codec: int, flags: int = 0) -> bytes:
    """A batch with its records compressed, and attributes added."""
    body = COMPRESS[codec](batch[HEADER_SIZE:]) if codec else batch[HEADER_SIZE:]
    attributes = int.from_bytes(batch[21:23]) | codec | flags
    checked = attributes.to_bytes(2) + batch[23:HEADER_SIZE] + bytes(body)
    size = len(checked) + 21 - 12
    return batch[:8] + size.to_bytes(4) + batch[12:17] + crc32c(checked).to_bytes(4) + checked


def _encoded(steps: list[Any]) -> list[bytes]:
    found: list[bytes] = []
    offset = 0
    epoch = 0
    for step in steps:
        match step:
            case ("plain", rows, codec, flags, more):
                epoch += more
                found.append(packed(_batch(offset, rows, epoch), codec, flags))
            case ("open", producer, rows, codec):
                found.append(packed(_batch(offset, rows, epoch, producer), codec))
            case ("end", producer, kind, at):
                found.append(_end(offset, producer, kind, at, epoch))
            case ("empty", count):
                found.append(empty_batch(offset, count))
        offset = end_of(found[-1])
    return found


def _batch(offset: int, rows: list[Any], epoch: int, producer: int | None = None) -> bytes:
    of_producer = {} if producer is None else {"attributes": TRANSACTIONAL, "producer_id": producer, "producer_epoch": 1}
    builder = BatchBuilder(offset, START_MS + rows[0][1], epoch, **of_producer)
    for number, ((key, value), at, headers) in enumerate(rows):
        builder.append_record(Record(offset + number, START_MS + at, key, value, headers))
    return builder.finish()


def _end(offset: int, producer: int, kind: int, at: int, epoch: int) -> bytes:
    builder = BatchBuilder(
        offset, START_MS + at, epoch, attributes=TRANSACTIONAL | CONTROL, producer_id=producer, producer_epoch=1
    )
    builder.append(struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 0))
    return builder.finish()
