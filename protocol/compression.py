"""Decompression of record batches in all four formats, within a memory limit of the caller.

gzip, lz4 and zstd are streams: they are expanded into a buffer that grows while it is too small, up to the limit. Snappy starts
with its uncompressed size. Kafka's Java producers use xerial's framing for it: a header of 16 bytes and blocks, each with an
int32 length. Other producers write one block without framing.

Errors: Malformed, both for damage and for content larger than the limit.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Any, Final, NoReturn

import cramjam

from protocol.errors import Malformed

GZIP: Final = 1
SNAPPY: Final = 2
LZ4: Final = 3
ZSTD: Final = 4

_STREAMS: Final[dict[int, Any]] = {GZIP: cramjam.gzip, LZ4: cramjam.lz4, ZSTD: cramjam.zstd}
_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = 16
_INT32 = Layout(">i")
_FIRST_GUESS: Final = 8
_SMALLEST_BUFFER: Final = 4096


def decompress(kind: int, data: bytes, limit: int) -> bytes:
    """Return the decompressed ``data``, at most ``limit`` bytes. Raises Malformed."""
    if kind == SNAPPY:
        return _snappy(data, limit)
    codec = _STREAMS.get(kind)
    if codec is None:
        _refuse(f"compression {kind} does not exist")
    size = min(limit, max(_SMALLEST_BUFFER, _FIRST_GUESS * len(data)))
    while True:
        out = bytearray(size)
        try:
            return bytes(memoryview(out)[: codec.decompress_into(data, out)])
        except cramjam.DecompressionError as error:
            if str(error) != "failed to write whole buffer":
                _refuse(f"compressed records are damaged: {error}")
        if size == limit:
            _refuse(f"compressed records have more than {limit} bytes")
        del out
        size = min(limit, size * _FIRST_GUESS)


def _snappy(data: bytes, limit: int) -> bytes:
    if not data.startswith(_XERIAL_MAGIC):
        return _block(data, limit)
    parts: list[bytes] = []
    pos, left = _XERIAL_HEADER, limit
    while pos < len(data):
        if pos + 4 > len(data):
            _refuse("a snappy block has no length")
        (size,) = _INT32.unpack_from(data, pos)
        pos += 4
        if not 0 < size <= len(data) - pos:
            _refuse(f"a snappy block of {size} bytes in the {len(data) - pos} that are left")
        parts.append(_block(data[pos : pos + size], left))
        left -= len(parts[-1])
        pos += size
    return b"".join(parts)


def _block(data: bytes, limit: int) -> bytes:
    try:
        if cramjam.snappy.decompress_raw_len(data) > limit:
            _refuse(f"compressed records have more than {limit} bytes")
        return bytes(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError as error:
        _refuse(f"compressed records are damaged: {error}")


def _refuse(reason: str) -> NoReturn:
    raise Malformed(reason, message="RecordBatch")
