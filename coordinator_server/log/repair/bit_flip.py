"""Find a single flipped bit of a journal frame from the difference between two checksums.

A CRC is linear: a flipped bit changes it by a value that depends on the bit's distance from the
end, and on no other byte. So the difference between the stored checksum and the computed one names
the bit, if one bit is all that is wrong. Going back from the end of the data costs one table
look-up per byte.
"""

from __future__ import annotations

from typing import Final

from crc32c import crc32c

MOST_BYTES: Final = 1 << 22  # a few tenths of a second

_ZERO: Final = bytes(1)
# How each value of the last byte changes the CRC.
_LAST: Final = tuple(crc32c(bytes((value,))) ^ crc32c(_ZERO) for value in range(256))
# Their top bytes are all different.
_BY_TOP: Final = {worth >> 24: value for value, worth in enumerate(_LAST)}
_BITS: Final = {_LAST[1 << bit]: 1 << bit for bit in range(8)}


def without_flip(data: bytes, difference: int) -> bytes | None:
    """Return ``data`` with the flipped bit corrected; None if no single bit explains the difference.

    ``difference`` is that of the two checksums (CRC-32C).
    """
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
    """Return the start value with which the CRC-32C over ``data`` is ``crc``."""
    start: int = crc32c(data) ^ crc
    for _ in range(len(data)):
        start = _before(start)
    return start


def _before(difference: int) -> int:
    """Return a difference as it was one byte earlier."""
    last = _BY_TOP[difference >> 24]
    return ((difference ^ _LAST[last]) << 8 & 0xFFFFFFFF) | last
