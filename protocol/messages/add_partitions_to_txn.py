"""AddPartitionsToTxn (24): partitions join a transaction (KIP-98).

Clients use versions up to 3, with one transaction in the fields named for that. Version 4 is the brokers' own: many transactions,
and asking only whether a partition is in one (KIP-890).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bool, Int16, Int32, Int64, Item, Message, String, V, request, response


class AddPartitionsToTxnRequest(Message):
    kafka = request(24, "0-5", flexible="3+")
    transactions: Annotated[list[AddPartitionsToTxnTransaction], V("4+")] = []
    v3_and_below_transactional_id: Annotated[String, V("0-3")] = ""
    v3_and_below_producer_id: Annotated[Int64, V("0-3")] = 0
    v3_and_below_producer_epoch: Annotated[Int16, V("0-3")] = 0
    v3_and_below_topics: Annotated[list[AddPartitionsToTxnTopic], V("0-3")] = []


class AddPartitionsToTxnTransaction(Item):
    transactional_id: String = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    verify_only: Bool = False
    topics: list[AddPartitionsToTxnTopic] = []


class AddPartitionsToTxnTopic(Item):
    name: String = ""
    partitions: list[Int32] = []


class AddPartitionsToTxnResponse(Message):
    kafka = response(24, "0-5", flexible="3+")
    throttle_time_ms: Int32 = 0
    error_code: Annotated[Int16, V("4+", ignorable=True)] = 0
    results_by_transaction: Annotated[list[AddPartitionsToTxnResult], V("4+")] = []
    results_by_topic_v3_and_below: Annotated[list[AddPartitionsToTxnTopicResult], V("0-3")] = []


class AddPartitionsToTxnResult(Item):
    transactional_id: String = ""
    topic_results: list[AddPartitionsToTxnTopicResult] = []


class AddPartitionsToTxnTopicResult(Item):
    name: String = ""
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = []


class AddPartitionsToTxnPartitionResult(Item):
    partition_index: Int32 = 0
    partition_error_code: Int16 = 0
