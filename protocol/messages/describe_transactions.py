"""DescribeTransactions (65): the state of transactions, by transactional id (KIP-664)."""

from __future__ import annotations

from protocol.fields import Int16, Int32, Int64, Item, Message, String, request, response


class DescribeTransactionsRequest(Message):
    kafka = request(65, "0", flexible="0+")
    transactional_ids: list[String] = []


class DescribeTransactionsResponse(Message):
    kafka = response(65, "0", flexible="0+")
    throttle_time_ms: Int32 = 0
    transaction_states: list[TransactionState] = []


class TransactionState(Item):
    error_code: Int16 = 0
    transactional_id: String = ""
    transaction_state: String = ""
    transaction_timeout_ms: Int32 = 0
    transaction_start_time_ms: Int64 = 0
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    topics: list[TopicData] = []


class TopicData(Item):
    topic: String = ""
    partitions: list[Int32] = []
