"""Which partition of an internal topic owns a key (Kafka's ``GroupCoordinatorService.partitionFor``)."""

from __future__ import annotations

from functools import lru_cache


def java_string_hash(text: str) -> int:
    """``String.hashCode`` of Java: over UTF-16 code units, as a signed 32-bit number."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


@lru_cache(maxsize=1 << 16)
def partition_for(key: str, partitions: int) -> int:
    """The owning partition of ``key``; Kafka's abs of the smallest int is 0."""
    value = java_string_hash(key)
    return (0 if value == -(1 << 31) else abs(value)) % partitions
