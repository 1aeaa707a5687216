"""EndTxn (26): commit or abort a transaction (KIP-98).

Version 5 bumps the producer's epoch and so returns producer id and epoch (KIP-890).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bool, Int16, Int32, Int64, Message, String, V, request, response


class EndTxnRequest(Message):
    kafka = request(26, "0-5", flexible="3+")
    transactional_id: String = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    committed: Bool = False


class EndTxnResponse(Message):
    kafka = response(26, "0-5", flexible="3+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Annotated[Int64, V("5+", ignorable=True)] = -1
    producer_epoch: Annotated[Int16, V("5+", ignorable=True)] = -1
