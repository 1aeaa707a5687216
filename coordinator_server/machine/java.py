"""Java's string hash, and the order of its strings.
Kafka's answers depend on the hash for the partition of a key and for the order of a ``HashMap``.

The hash is a polynomial in 31 over the UTF-16 code units. A long text is hashed many units at a time: an integer holds them in
lanes, and one operation on the integer acts on all lanes. First pairs of units become one lane, then pairs of pairs. The lanes of
successive chunks are added up, each sum times 31 to the power of the chunk's units. A short text is one chunk.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from operator import mul
from struct import Struct as Layout
from typing import Final

_BASE: Final = 31
_MASK: Final = 0xFFFF_FFFF
# Texts of at most this number of characters, which may be two units each, are one chunk, of no more lanes than they need.
_SHORT: Final = 64
# A lane has four units, of two bytes each.
_LANES: Final = 64
_CHUNK: Final = 4 * _LANES
_CHUNK_BYTES: Final = 2 * _CHUNK
# Some hundred bytes each.
_HASHES: Final = 16_384
_SECOND_OF_2: Final = int.from_bytes(b"\x00\x00\xff\xff" * 2 * _LANES, "big")
_LAST_2_OF_4: Final = int.from_bytes(b"\x00\x00\x00\x00\xff\xff\xff\xff" * _LANES, "big")
_CHUNK_POWER: Final[int] = pow(_BASE, _CHUNK, 1 << 32)
_LANE_POWERS: Final[tuple[int, ...]] = tuple(pow(_BASE, 4 * place, 1 << 32) for place in range(_LANES))
_UNPACK: Final = tuple(Layout(f"<{count}Q").unpack for count in range(_SHORT // 2 + 1))
_UNPACK_LANES: Final = Layout(f"<{_LANES}Q").unpack


def java_string_hash(text: str) -> int:
    """Return Java's ``String.hashCode``: computed over UTF-16 code units, a signed 32-bit number."""
    value = _hash_short(text) if len(text) <= _SHORT else _hash_long(text)
    return value - (1 << 32) if value >> 31 else value


def _hash_short(text: str) -> int:
    data = text.encode("utf-16-be", "surrogatepass")
    units, count = int.from_bytes(data, "big"), (len(data) + 7) // 8
    pairs = (units >> 16 & _SECOND_OF_2) * _BASE + (units & _SECOND_OF_2)
    lanes = (pairs >> 32 & _LAST_2_OF_4) * _BASE**2 + (pairs & _LAST_2_OF_4)
    total: int = sum(map(mul, _UNPACK[count](lanes.to_bytes(8 * count, "little")), _LANE_POWERS))
    return total & _MASK


def _hash_long(text: str) -> int:
    units = text.encode("utf-16-be", "surrogatepass")
    lanes, start = 0, 0
    # The first chunk has what remains: zeros before the first unit do not change the hash.
    end = len(units) % _CHUNK_BYTES or _CHUNK_BYTES
    while start < len(units):
        chunk = int.from_bytes(units[start:end], "big")
        pairs = (chunk >> 16 & _SECOND_OF_2) * _BASE + (chunk & _SECOND_OF_2)
        # A lane has 64 bits, and no sum exceeds them.
        lanes = (lanes * _CHUNK_POWER + (pairs >> 32 & _LAST_2_OF_4) * _BASE**2 + (pairs & _LAST_2_OF_4)) & _LAST_2_OF_4
        start, end = end, end + _CHUNK_BYTES
    total: int = sum(map(mul, _UNPACK_LANES(lanes.to_bytes(8 * _LANES, "little")), _LANE_POWERS))
    return total & _MASK


text_hash = lru_cache(_HASHES)(java_string_hash)
"""The same, of texts that come again: ids of clients, names of topics."""


def text_order(text: str) -> bytes:
    """Return a key that sorts texts as Java's ``String.compareTo`` does: by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """Return ``keys`` in the iteration order of a Java ``HashMap`` that grew to hold them.

    The order is by bucket, then by insertion.
    """
    distinct = list(dict.fromkeys(keys))
    buckets = 16
    while len(distinct) * 4 > buckets * 3:
        buckets *= 2

    def bucket(key: str) -> int:
        value = text_hash(key) & 0xFFFFFFFF
        return (value ^ value >> 16) & (buckets - 1)

    return sorted(distinct, key=bucket)
