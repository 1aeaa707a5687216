"""Java's string hash, where Kafka's answers depend on it: the partition of a key, and the order of a ``HashMap``."""

from __future__ import annotations

from collections.abc import Iterable


def java_string_hash(text: str) -> int:
    """``String.hashCode`` of Java: over UTF-16 code units, as a signed 32-bit number."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """``keys`` as a ``HashMap`` iterates them that grew to hold them: by bucket, those of one bucket as they came."""
    distinct = list(dict.fromkeys(keys))
    buckets = 16
    while len(distinct) * 4 > buckets * 3:
        buckets *= 2

    def bucket(key: str) -> int:
        value = java_string_hash(key) & 0xFFFFFFFF
        return (value ^ value >> 16) & (buckets - 1)

    return sorted(distinct, key=bucket)
