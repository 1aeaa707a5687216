"""A digest of the keys and values of records, in any order. It proves that a layer has the records that it should have.

Each record is hashed over its key and value as they are in a RecordBatch (length, bytes, length, bytes), as little-endian words of
eight bytes, zero-padded. Two multiply-and-add sums with fixed odd weights, each passed through a finaliser, are added up over all
records modulo 2^64. The weights are odd, so a change of one word always changes the digest. Addition needs no order: parts of a
shard are digested separately and merged. This is the plain Python version; ``compact/vector_engine.py`` computes the same with
numpy, and tests compare the two.

The digest detects bugs and bad memory. It does not protect against forgery. The digest of a state is ``machine/digest.py``.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable, Sequence
from operator import mul
from typing import Final

from protocol.batch_builder import VARINTS, varint

MASK: Final = 2**64 - 1
GOLDEN: Final = 0x9E3779B97F4A7C15
SEEDS: Final = (0x243F6A8885A308D3, 0x13198A2E03707344)
_FIRST: Final = 0xBF58476D1CE4E5B9
_SECOND: Final = 0x94D049BB133111EB
MIX: Final = ((30, _FIRST), (27, _SECOND), (31, 1))


class RecordDigest:
    """The sum of one hash per record, and the number of records."""

    __slots__ = ("count", "sums")

    def __init__(self, count: int = 0, sums: tuple[int, int] = (0, 0)) -> None:
        self.count = count
        self.sums = sums

    def add(self, key: bytes, value: bytes | None) -> None:
        """Add one record."""
        data = _sized(key) + _sized(value)
        size = len(data)
        count = size + 7 >> 3
        layout, weights_of_one, weights_of_other = _of_size(count)
        words = layout.unpack(data.ljust(count << 3, b"\0"))
        one, other = self.sums
        one += mix(sum(map(mul, words, weights_of_one)) + size & MASK)
        other += mix(sum(map(mul, words, weights_of_other)) + size & MASK)
        self.count += 1
        self.sums = one & MASK, other & MASK

    def merge(self, other: RecordDigest) -> None:
        """Add the records of another digest."""
        self.count += other.count
        self.sums = (self.sums[0] + other.sums[0] & MASK, self.sums[1] + other.sums[1] & MASK)

    def __str__(self) -> str:
        return f"{self.sums[0]:016x}{self.sums[1]:016x}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordDigest) and (self.count, self.sums) == (other.count, other.sums)

    __hash__ = None  # type: ignore[assignment]


def digest_records(records: Iterable[tuple[bytes, bytes | None]]) -> RecordDigest:
    """Return the digest of keys and values."""
    digest = RecordDigest()
    for key, value in records:
        digest.add(key, value)
    return digest


def mix(value: int) -> int:
    """Apply the finaliser of splitmix64: the steps of MIX, the last of which multiplies by one."""
    value = (value ^ value >> 30) * _FIRST & MASK
    value = (value ^ value >> 27) * _SECOND & MASK
    return value ^ value >> 31


@functools.lru_cache(maxsize=1024)
def _of_size(count: int) -> tuple[struct.Struct, Sequence[int], Sequence[int]]:
    """Return a layout of ``count`` words, and at least ``count`` weights for each of the two sums."""
    return struct.Struct(f"<{count}Q"), weights(SEEDS[0], count), weights(SEEDS[1], count)


def weights(seed: int, count: int) -> tuple[int, ...]:
    """Return at least ``count`` odd weights."""
    return _weights(seed, 1 << (count - 1).bit_length())


@functools.lru_cache(maxsize=64)
def _weights(seed: int, count: int) -> tuple[int, ...]:
    return tuple(mix(seed + GOLDEN * index & MASK) | 1 for index in range(1, count + 1))


def _sized(data: bytes | None) -> bytes:
    """Return length and bytes, as in a record."""
    if data is None:
        return varint(-1)
    size = len(data)
    return (VARINTS[size] if size < len(VARINTS) else varint(size)) + data
