"""Java's string hash. Kafka's answers depend on it for the partition of a key and for the order of a ``HashMap``."""

from __future__ import annotations

from collections.abc import Iterable


def java_string_hash(text: str) -> int:
    """Return Java's ``String.hashCode``: computed over UTF-16 code units, a signed 32-bit number."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """Return ``keys`` in the iteration order of a Java ``HashMap`` that grew to hold them.

    The order is by bucket, then by insertion.
    """
    distinct = list(dict.fromkeys(keys))
    buckets = 16
    while len(distinct) * 4 > buckets * 3:
        buckets *= 2

    def bucket(key: str) -> int:
        value = java_string_hash(key) & 0xFFFFFFFF
        return (value ^ value >> 16) & (buckets - 1)

    return sorted(distinct, key=bucket)
