"""Finds the one bit that rotted, from how far a checksum is off.

A CRC is linear: flipping a bit changes it by what that bit alone is worth at its place, whatever the rest says. So the difference between
the checksum that was stored and the one that is found names the bit, if it was one; walking back from the end of the data, a byte is a
table look-up.
"""

from __future__ import annotations

from typing import Final

from crc32c import crc32c

MOST_BYTES: Final = 1 << 22  # a few tenths of a second

_ZERO: Final = bytes(1)
# What a byte is worth when it is the last one.
_LAST: Final = tuple(crc32c(bytes((value,))) ^ crc32c(_ZERO) for value in range(256))
# The top byte of each of them is another one.
_BY_TOP: Final = {worth >> 24: value for value, worth in enumerate(_LAST)}
_BITS: Final = {_LAST[1 << bit]: 1 << bit for bit in range(8)}


def without_flip(data: bytes, difference: int) -> bytes | None:
    """``data`` with the one bit put right whose flip explains the difference of checksums (CRC-32C); None when no bit does."""
    position = len(data) - 1
    if len(data) > MOST_BYTES:
        return None
    while position >= 0:
        mask = _BITS.get(difference)
        if mask is not None:
            return data[:position] + bytes((data[position] ^ mask,)) + data[position + 1 :]
        difference = _before(difference)
        position -= 1
    return None


def start_of(data: bytes, crc: int) -> int:
    """What a CRC-32C over ``data`` must have started from to end at ``crc``."""
    start: int = crc32c(data) ^ crc
    for _ in range(len(data)):
        start = _before(start)
    return start


def _before(difference: int) -> int:
    """What a difference was one byte earlier."""
    last = _BY_TOP[difference >> 24]
    return ((difference ^ _LAST[last]) << 8 & 0xFFFFFFFF) | last
