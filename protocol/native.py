"""Reading of integers from bytes in compiled code, where each takes a few instructions. Interpreted code uses ``struct`` instead.

The caller must have checked the bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import i64


def int8(byte: int) -> int:
    """Return a byte as a signed number."""
    return byte - 256 if byte > 127 else byte


def int16(buf: bytes, pos: int) -> int:
    """Return a signed big-endian number, like the functions below."""
    value = buf[pos] << 8 | buf[pos + 1]
    return value - 0x10000 if value > 0x7FFF else value


def int32(buf: bytes, pos: int) -> int:
    at: i64 = pos
    value: i64 = buf[at]
    value = value << 8 | buf[at + 1]
    value = value << 8 | buf[at + 2]
    value = value << 8 | buf[at + 3]
    return value - 0x100000000 if value > 0x7FFFFFFF else value


def int64(buf: bytes, pos: int) -> int:
    high: i64 = int32(buf, pos)
    low: i64 = int32(buf, pos + 4)
    return high << 32 | (low & 0xFFFFFFFF)
