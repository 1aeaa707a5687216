"""The partition of an internal topic that owns a key (Kafka's ``GroupCoordinatorService.partitionFor``)."""

from __future__ import annotations

from functools import lru_cache

from coordinator_server.machine.java import java_string_hash


@lru_cache(maxsize=1 << 16)
def partition_for(key: str, partitions: int) -> int:
    """Return the partition that owns ``key``. As in Kafka, the absolute value of the smallest int is 0."""
    value = java_string_hash(key)
    return (0 if value == -(1 << 31) else abs(value)) % partitions
