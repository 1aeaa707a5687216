"""Records of the share coordinator's log: the delivery state of share-partitions, as snapshots and changes since (KIP-932)."""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Int8, Int16, Int32, Int64, Item, Message, String, Uuid, V, record_key, record_value


class ShareSnapshotKey(Message):
    kafka = record_key(0)
    group_id: String = ""
    topic_id: Uuid = ZERO_UUID
    partition: Int32 = 0


class ShareSnapshotValue(Message):
    kafka = record_value(0, "0", flexible="0+")
    snapshot_epoch: Int32 = 0
    state_epoch: Int32 = 0
    leader_epoch: Int32 = 0
    start_offset: Int64 = 0
    delivery_complete_count: Annotated[Int32, V(tag=0)] = -1
    create_timestamp: Int64 = 0
    write_timestamp: Int64 = 0
    state_batches: list[StateBatch] = []


class StateBatch(Item):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_state: Int8 = 0
    delivery_count: Int16 = 0


class ShareUpdateKey(Message):
    kafka = record_key(1)
    group_id: String = ""
    topic_id: Uuid = ZERO_UUID
    partition: Int32 = 0


class ShareUpdateValue(Message):
    kafka = record_value(1, "0", flexible="0+")
    snapshot_epoch: Int32 = 0
    leader_epoch: Int32 = 0
    start_offset: Int64 = 0
    delivery_complete_count: Annotated[Int32, V(tag=0)] = -1
    state_batches: list[StateBatch] = []
