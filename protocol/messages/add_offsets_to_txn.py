"""AddOffsetsToTxn (25): a group's offsets join a transaction (KIP-98). Version 4 adds TRANSACTION_ABORTABLE (KIP-890)."""

from __future__ import annotations

from protocol.fields import Int16, Int32, Int64, Message, String, request, response


class AddOffsetsToTxnRequest(Message):
    kafka = request(25, "0-4", flexible="3+")
    transactional_id: String = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    group_id: String = ""


class AddOffsetsToTxnResponse(Message):
    kafka = response(25, "0-4", flexible="3+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
