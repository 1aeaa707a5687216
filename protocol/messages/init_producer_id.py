"""InitProducerId (22): a producer id and epoch, for idempotence and transactions (KIP-98).

Version 3 lets a fenced producer go on with a new epoch (KIP-360), 5 adds TRANSACTION_ABORTABLE (KIP-890), 6 two-phase commit
(KIP-939); Kafka 4.3 does not serve version 6 yet.
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bool, Int16, Int32, Int64, Message, String, V, request, response


class InitProducerIdRequest(Message):
    kafka = request(22, "0-6", flexible="2+")
    transactional_id: String | None = ""
    transaction_timeout_ms: Int32 = 0
    producer_id: Annotated[Int64, V("3+")] = -1
    producer_epoch: Annotated[Int16, V("3+")] = -1
    enable2_pc: Annotated[Bool, V("6+")] = False
    keep_prepared_txn: Annotated[Bool, V("6+")] = False


class InitProducerIdResponse(Message):
    kafka = response(22, "0-6", flexible="2+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Int64 = -1
    producer_epoch: Int16 = 0
    ongoing_txn_producer_id: Annotated[Int64, V("6+")] = -1
    ongoing_txn_producer_epoch: Annotated[Int16, V("6+")] = -1
