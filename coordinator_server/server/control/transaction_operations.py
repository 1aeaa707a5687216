"""Operations of ``control.sock`` on one transactional id. The request names its shard, so the loop that owns it gets the request.

{"op": "abort-transaction", "shards": ["__transaction_state-7"], "transactional_id": "payments-1"}
{"ok": true, "aborted": {"producer_id": 4000, "producer_epoch": 3}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.control.durable_write import written
from coordinator_server.server.hosting.node import Node
from coordinator_server.transaction.shard import TransactionShard

ABORT: Final = WriteOperation("abort-transaction", TransactionShard.abort)


async def answer_abort(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Abort the open transaction of an id, and return when that is decided. Raises Refusal."""
    transactional_id = str(request.get("transactional_id"))
    partition = node.transaction_partition_of(transactional_id)
    producer_id, epoch = await written(node.transactions, partition, ABORT, node.ourselves, transactional_id)
    return {"aborted": {"producer_id": producer_id, "producer_epoch": epoch}}
