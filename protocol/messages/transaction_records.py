"""Records of the transaction coordinator's log (KIP-98).

Version 1 of the value is flexible (KIP-915); its tagged fields tell the producer ids before and after a bump of the epoch, and
the version of transactions that the client uses (KIP-890).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int8, Int16, Int32, Int64, Item, Message, String, V, record_key, record_value


class TransactionLogKey(Message):
    kafka = record_key(0)
    transactional_id: String = ""


class TransactionLogValue(Message):
    kafka = record_value(0, "0-1", flexible="1+")
    producer_id: Int64 = 0
    previous_producer_id: Annotated[Int64, V("1+", tag=0)] = -1
    next_producer_id: Annotated[Int64, V("1+", tag=1)] = -1
    producer_epoch: Int16 = 0
    next_producer_epoch: Annotated[Int16, V("1+", tag=3)] = -1
    transaction_timeout_ms: Int32 = 0
    transaction_status: Int8 = 0
    transaction_partitions: list[PartitionsSchema] | None = []
    transaction_last_update_timestamp_ms: Int64 = 0
    transaction_start_timestamp_ms: Int64 = 0
    client_transaction_version: Annotated[Int16, V("1+", tag=2)] = 0


class PartitionsSchema(Item):
    topic: String = ""
    partition_ids: list[Int32] = []
