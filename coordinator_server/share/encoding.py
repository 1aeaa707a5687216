"""The bytes of share state records, for the write path: ``SHARE_SERDE`` writes and reads the same ones.

key       type int16 (0 snapshot, 1 update), and the *name* of the share partition: group, topic id, partition int32
snapshot  version int16, snapshot epoch, state epoch, leader epoch int32, start offset, created, written int64, batches, tags
update    version int16, snapshot epoch, leader epoch int32, start offset int64, batches, tags
batches   count + 1 uvarint; each: first, last offset int64, delivery state int8, delivery count int16, no tags
tags      tag 0: the delivery complete count int32, if it is not -1
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout
from typing import Final

from coordinator_server.share.share_partition import SharePartition, SharePartitionKey, snapshot_state
from coordinator_server.share.state_batches import StateBatch
from protocol.coordinator_records import SHARE_SERDE
from protocol.messages.share_records import ShareSnapshotValue
from protocol.wire import write_uvarint

SNAPSHOT_TYPE: Final = b"\0\0"
UPDATE_TYPE: Final = b"\0\1"

_GROUP_SIZE: Final = Layout(">h").pack
_TOPIC_PARTITION: Final = Layout(">16si").pack
_SNAPSHOT: Final = Layout(">hiiiqqq").pack
_UPDATE: Final = Layout(">hiiq").pack
_BATCH: Final = Layout(">qqbhx").pack
_NO_TAGS: Final = b"\0"
_COMPLETE_COUNT: Final = Layout(">BBBi").pack
_TIMESTAMPS: Final = Layout(">qq")
_TIMESTAMPS_AT: Final = 22


def name_of(key: SharePartitionKey) -> bytes:
    """Return the bytes of a record's key after its type."""
    group = key.group_id.encode()
    return _GROUP_SIZE(len(group)) + group + _TOPIC_PARTITION(key.topic_id, key.partition)


def key_of(name: bytes) -> SharePartitionKey:
    """Return the key that a name stands for."""
    return SharePartitionKey(name[2:-20].decode(), topic_id_of(name), int.from_bytes(name[-4:], signed=True))


def topic_id_of(name: bytes) -> bytes:
    """Return the topic id in a name."""
    return name[-20:-4]


def encoded_snapshot(state: SharePartition) -> bytes:
    """Return the value of a ShareSnapshot record with this state."""
    head = _SNAPSHOT(
        0,
        state.snapshot_epoch,
        state.state_epoch,
        state.leader_epoch,
        state.start_offset,
        state.create_timestamp,
        state.write_timestamp,
    )
    return head + _rest(state.state_batches, state.delivery_complete_count)


def encoded_update(
    snapshot_epoch: int, leader_epoch: int, start_offset: int, delivery_complete_count: int, batches: Sequence[StateBatch]
) -> bytes:
    """Return the value of a ShareUpdate record."""
    return _UPDATE(0, snapshot_epoch, leader_epoch, start_offset) + _rest(batches, delivery_complete_count)


def decoded_snapshot(name: bytes, value: bytes) -> SharePartition:
    """Return the state after a share partition's first snapshot. Raises DecodeError."""
    record = SHARE_SERDE.decode(SNAPSHOT_TYPE + name, value)
    assert record is not None
    assert isinstance(record.value, ShareSnapshotValue)
    return snapshot_state(record.value)


def encoded_timestamps(value: bytes) -> tuple[int, int]:
    """Return when the state of an encoded snapshot was created and written."""
    created, written = _TIMESTAMPS.unpack_from(value, _TIMESTAMPS_AT)
    return created, written


def _rest(batches: Sequence[StateBatch], delivery_complete_count: int) -> bytes:
    parts = [_BATCH(first, last, state, count) for first, last, count, state in batches]
    tags = _NO_TAGS if delivery_complete_count == -1 else _COMPLETE_COUNT(1, 0, 4, delivery_complete_count)
    return b"".join((write_uvarint(len(batches) + 1), *parts, tags))
