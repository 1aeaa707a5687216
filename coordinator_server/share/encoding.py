"""The bytes of share state records, for the write path: ``SHARE_SERDE`` writes and reads the same ones.

key       type int16 (0 snapshot, 1 update), and the *name* of the share partition: group, topic id, partition int32
snapshot  version int16, snapshot epoch, state epoch, leader epoch int32, start offset, created, written int64, batches, tags
update    version int16, snapshot epoch, leader epoch int32, start offset int64, batches, tags
batches   count + 1 uvarint, and the rows (``state_rows.py``)
tags      tag 0: the delivery complete count int32, if it is not -1
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final

from coordinator_server.share.share_partition import SharePartition, SharePartitionKey
from coordinator_server.share.state_rows import ROW_BYTES
from protocol.wire import write_uvarint

SNAPSHOT_TYPE: Final = b"\0\0"
UPDATE_TYPE: Final = b"\0\1"

_GROUP_SIZE: Final = Layout(">h").pack
_TOPIC_PARTITION: Final = Layout(">16si")
TOPIC_ID_AT: Final = -20
"""The place of the topic id in a name."""
PARTITION_AT: Final = -4
"""The place of the partition in a name, int32."""
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


def name_of(key: SharePartitionKey) -> bytes:
    """Return the bytes of a record's key after its type."""
    group = key.group_id.encode()
    return _GROUP_SIZE(len(group)) + group + _TOPIC_PARTITION.pack(key.topic_id, key.partition)


def key_of(name: bytes) -> SharePartitionKey:
    """Return the key that a name stands for."""
    return SharePartitionKey(name[2:-20].decode(), *topic_and_partition_of(name))


def topic_and_partition_of(name: bytes) -> tuple[bytes, int]:
    """Return the topic id and the partition in a name."""
    topic_id, partition = _TOPIC_PARTITION.unpack(name[-20:])
    return topic_id, partition


def topic_id_of(name: bytes) -> bytes:
    """Return the topic id in a name."""
    return name[TOPIC_ID_AT:PARTITION_AT]


def is_negative(name: bytes) -> bool:
    """Return whether the partition in a name is negative."""
    return name[-4] >= 0x80


def encoded_snapshot(state: SharePartition) -> bytes:
    """Return the value of a ShareSnapshot record with this state."""
    head = _SNAPSHOT.pack(
        0,
        state.snapshot_epoch,
        state.state_epoch,
        state.leader_epoch,
        state.start_offset,
        state.create_timestamp,
        state.write_timestamp,
    )
    return head + _rest(state.rows, state.delivery_complete_count)


def encoded_update(snapshot_epoch: int, leader_epoch: int, start_offset: int, delivery_complete_count: int, rows: bytes) -> bytes:
    """Return the value of a ShareUpdate record."""
    return _UPDATE(0, snapshot_epoch, leader_epoch, start_offset) + _rest(rows, delivery_complete_count)


def decoded_snapshot(value: bytes) -> SharePartition:
    """Return the state after a share partition's first snapshot, which is plain (``bulk.py``)."""
    _, snapshot_epoch, state_epoch, leader_epoch, start_offset, created, written = _SNAPSHOT.unpack_from(value)
    tags_at = BATCHES_AT + 1 + ROW_BYTES * (value[BATCHES_AT] - 1)
    complete_count = -1 if value[tags_at : tags_at + 1] == _NO_TAGS else _COMPLETE_COUNT.unpack_from(value, tags_at)[3]
    return SharePartition(
        snapshot_epoch,
        state_epoch,
        leader_epoch,
        start_offset,
        complete_count,
        value[BATCHES_AT + 1 : tags_at],
        created,
        written,
        highest_leader_epoch=leader_epoch,
        highest_state_epoch=state_epoch,
        update_count=0,
    )


def encoded_timestamps(value: bytes) -> tuple[int, int]:
    """Return when the state of an encoded snapshot was created and written."""
    created, written = _TIMESTAMPS.unpack_from(value, _TIMESTAMPS_AT)
    return created, written


def _rest(rows: bytes, delivery_complete_count: int) -> bytes:
    tags = _NO_TAGS if delivery_complete_count == -1 else _COMPLETE_COUNT.pack(1, 0, 4, delivery_complete_count)
    size = len(rows) // ROW_BYTES + 1
    return b"".join((_ONE_BYTE[size] if size < len(_ONE_BYTE) else write_uvarint(size), rows, tags))
