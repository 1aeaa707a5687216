"""The bytes of share state records, for the write path and for loads: ``SHARE_SERDE`` writes and reads the same ones.

key       type int16 (0 snapshot, 1 update), and the *name* of the share partition (``share_partition_names.py``)
snapshot  version int16, snapshot epoch, state epoch, leader epoch int32, start offset, created, written int64, batches, tags
update    version int16, snapshot epoch, leader epoch int32, start offset int64, batches, tags
batches   count + 1 uvarint, and the rows (``share_state_rows.py``)
tags      tag 0: the delivery complete count int32, if it is not -1
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final, NamedTuple

from protocol.share_state_rows import ROW_BYTES
from protocol.wire import write_uvarint

SNAPSHOT_TYPE: Final = b"\0\0"
UPDATE_TYPE: Final = b"\0\1"

_SNAPSHOT: Final = Layout(">hiiiqqq")
_UPDATE: Final = Layout(">hiiq").pack
_NO_TAGS: Final = b"\0"
_COMPLETE_COUNT: Final = Layout(">BBBi")
_TIMESTAMPS: Final = Layout(">qq")
_TIMESTAMPS_AT: Final = 22
_ONE_BYTE: Final = tuple([bytes([number]) for number in range(0x80)])
"""The varints of one byte."""
BATCHES_AT: Final = _SNAPSHOT.size
"""Where a snapshot has the number of its batches, plus one."""


class Snapshot(NamedTuple):
    """The fields of a ShareSnapshot record. Timestamps are milliseconds since the Unix epoch. The count is -1 if it is unknown."""

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    create_timestamp: int
    write_timestamp: int
    delivery_complete_count: int
    rows: bytes


def encoded_snapshot(snapshot: Snapshot) -> bytes:
    """Return the value of a ShareSnapshot record."""
    return _SNAPSHOT.pack(0, *snapshot[:6]) + _rest(snapshot.rows, snapshot.delivery_complete_count)


def encoded_update(snapshot_epoch: int, leader_epoch: int, start_offset: int, delivery_complete_count: int, rows: bytes) -> bytes:
    """Return the value of a ShareUpdate record."""
    return _UPDATE(0, snapshot_epoch, leader_epoch, start_offset) + _rest(rows, delivery_complete_count)


def decoded_snapshot(value: bytes) -> Snapshot:
    """Return the fields of a plain snapshot (``plain_snapshots.py``)."""
    tags_at = BATCHES_AT + 1 + ROW_BYTES * (value[BATCHES_AT] - 1)
    complete_count: int = -1 if value[tags_at : tags_at + 1] == _NO_TAGS else _COMPLETE_COUNT.unpack_from(value, tags_at)[3]
    _, snapshot_epoch, state_epoch, leader_epoch, start_offset, created, written = _SNAPSHOT.unpack_from(value)
    rows = value[BATCHES_AT + 1 : tags_at]
    return Snapshot(snapshot_epoch, state_epoch, leader_epoch, start_offset, created, written, complete_count, rows)


def encoded_timestamps(value: bytes) -> tuple[int, int]:
    """Return when the state of an encoded snapshot was created and written, in milliseconds since the Unix epoch."""
    created, written = _TIMESTAMPS.unpack_from(value, _TIMESTAMPS_AT)
    return created, written


def _rest(rows: bytes, delivery_complete_count: int) -> bytes:
    tags = _NO_TAGS if delivery_complete_count == -1 else _COMPLETE_COUNT.pack(1, 0, 4, delivery_complete_count)
    size = len(rows) // ROW_BYTES + 1
    return b"".join((_ONE_BYTE[size] if size < len(_ONE_BYTE) else write_uvarint(size), rows, tags))
