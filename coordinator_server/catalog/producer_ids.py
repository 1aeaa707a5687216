"""Producer ids are given to loops in blocks, durable before one id of a block is used (Kafka's ``ProducerIdControlManager``).

An id is never given out twice. What is left of a block when a loop ends is lost; there are enough for ever.
"""

from __future__ import annotations

from typing import Final

from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import ProducerIdsRecord

BLOCK: Final = 1_000
LAST_ID: Final = 2**63 - 1


def block_after(next_id: int, node_id: int) -> ProducerIdsRecord:
    """Return the record that gives a node the BLOCK ids from ``next_id`` on. Raises CoordinatorError if there are none left."""
    if next_id > LAST_ID - BLOCK:
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR, "all producer ids have been given out")
    return ProducerIdsRecord(node_id, next_producer_id=next_id + BLOCK)


def ids_of(block: ProducerIdsRecord) -> range:
    """Return the ids that a record gives out."""
    return range(block.next_producer_id - BLOCK, block.next_producer_id)
