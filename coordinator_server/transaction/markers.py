"""The message that ends a transaction in one partition of ``__consumer_offsets`` (Kafka's WriteTxnMarkers between brokers)."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from coordinator_server.kinds import GROUPS
from coordinator_server.machine.outbox import Effect


class Marker(Struct, frozen=True):
    """``version`` is that of the transaction: from 2 on the epoch is higher than the one of its records."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_commit: bool
    version: int


WRITE_MARKER: Final = Effect(GROUPS.topic, "write-marker", Marker, bool)
"""Answers whether the partition had an open transaction of the producer."""
