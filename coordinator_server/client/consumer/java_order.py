"""The order in which Java's HashMap<String, …> yields its keys. Kafka's sticky assignor depends on it where members are alike."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

_LEAST_CAPACITY = 16
# Ids of members, some hundred bytes each.
_HASHES = 4096


def java_order(keys: Collection[str]) -> list[str]:
    """Return the keys as a HashMap yields them that got them one by one in this order.

    That holds for fewer than eight keys in one bucket, which is nearly always.
    """
    capacity = _LEAST_CAPACITY
    while len(keys) > capacity * 3 // 4:
        capacity *= 2
    return sorted(keys, key=lambda key: _spread(java_hash(key)) & (capacity - 1))


@lru_cache(_HASHES)
def java_hash(text: str) -> int:
    """Return ``String.hashCode()``, as 32 bits without a sign."""
    value = 0
    data = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(data[::2], data[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value


def java_text(text: str) -> bytes:
    """Return a key that sorts texts as ``String.compareTo`` does."""
    return text.encode("utf-16-be", "surrogatepass")


def _spread(value: int) -> int:
    return value ^ value >> 16
