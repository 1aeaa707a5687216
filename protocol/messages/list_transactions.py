"""ListTransactions (66): the transactions of a coordinator that pass the filters (KIP-664).

Version 1 filters by how long they have run (KIP-994), 2 by a pattern of their ids (KIP-1152).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int16, Int32, Int64, Item, Message, String, V, request, response


class ListTransactionsRequest(Message):
    kafka = request(66, "0-2", flexible="0+")
    state_filters: list[String] = []
    producer_id_filters: list[Int64] = []
    duration_filter: Annotated[Int64, V("1+")] = -1
    transactional_id_pattern: Annotated[String | None, V("2+")] = None


class ListTransactionsResponse(Message):
    kafka = response(66, "0-2", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    unknown_state_filters: list[String] = []
    transaction_states: list[TransactionState] = []


class TransactionState(Item):
    transactional_id: String = ""
    producer_id: Int64 = 0
    transaction_state: String = ""
