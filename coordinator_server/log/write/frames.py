"""The bytes of the journal: heads, frames and entries.

    head    magic 8 | length u32 | crc u32 | generation u64 | replay_from u64 | sequence u64 | salt u64
            | is_synced u8 | count u32 | ends | capacity u64
    end     topic length u16 | topic | partition i32 | segment i64 | size i64 | offset i64
    frame   magic 4 | generation u64 | sequence u64 | length u32 | crc u32 | entries      at the next multiple of 512 bytes
    entry   topic length u16 | topic | partition i32 | offset i64 | length u32 | record batches

*Generation* counts how often a file was taken into use; *sequence* counts frames, over all files. A
frame's CRC covers everything but its magic, and starts from the CRC of its file's head, which
covers a random salt. So neither a frame of an earlier use of the file nor any bytes of a client can
be taken for the next frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct as Layout
from typing import Final, NamedTuple

from crc32c import crc32c
from msgspec import Struct

from coordinator_server.log.shards import ShardEnd, ShardId

SECTOR: Final = 512
FRAME_BYTES: Final = 28  # before the entries
FRAME_MAGIC: Final = b"jFrm"
_HEAD_MAGIC: Final = b"jHead\0\0\1"
_PREFIX: Final = Layout(">8sII")
_HEAD: Final = Layout(">QQQQ?I")
_NAME: Final = Layout(">H")
_END: Final = Layout(">qqq")
FRAME_HEADER: Final = Layout(">QQII")  # after the magic: generation, sequence, length, CRC
FRAME_CHECKED: Final = Layout(">QQI")  # what the CRC covers of it
GENERATION: Final = Layout(">Q")
_PARTITION: Final = Layout(">i")
_ENTRY: Final = Layout(">qI")


class Entry(NamedTuple):
    """The batches of one append, in a frame."""

    shard: ShardId
    offset: int
    data: bytes


class Head(Struct, frozen=True):
    """The beginning of a journal file.

    ``ends`` covers every frame before ``sequence``, the first frame of generation ``replay_from``.
    """

    generation: int
    replay_from: int
    sequence: int
    salt: int
    ends: tuple[ShardEnd, ...]
    is_synced: bool = True
    capacity: int = 0  # bytes of the file; 0 in files of older versions


def aligned(position: int) -> int:
    """Return the start of the next sector. Frames start at sectors, so that a torn sector holds bytes of one frame only."""
    return -(-position // SECTOR) * SECTOR


def shard_prefix(shard: ShardId) -> bytes:
    """Return the name of a shard as heads and frames have it."""
    topic = shard.topic.encode()
    return _NAME.pack(len(topic)) + topic + _PARTITION.pack(shard.partition)


def entry_header(prefix: bytes, offset: int, length: int) -> bytes:
    """Return the bytes before the batches of an entry."""
    return prefix + _ENTRY.pack(offset, length)


def encode_frame(generation: int, sequence: int, seed: int, content: Sequence[bytes]) -> bytes:
    """Return a frame. The bytes of its entries come in any number of parts, which are copied once."""
    checked = FRAME_CHECKED.pack(generation, sequence, sum(map(len, content)))
    crc: int = crc32c(checked, seed)
    for part in content:
        crc = crc32c(part, crc)
    return b"".join((FRAME_MAGIC, checked, crc.to_bytes(4, "big"), *content))


def encode_head(head: Head) -> tuple[bytes, int]:
    """Return the bytes of a head, and the CRC that its frames' CRCs start from."""
    parts = [_HEAD.pack(head.generation, head.replay_from, head.sequence, head.salt, head.is_synced, len(head.ends))]
    for end in head.ends:
        parts += (shard_prefix(end.shard), _END.pack(end.segment, end.size, end.offset))
    parts.append(GENERATION.pack(head.capacity))
    body = b"".join(parts)
    crc: int = crc32c(body)
    return _PREFIX.pack(_HEAD_MAGIC, len(body), crc) + body, crc


def decode_head(data: bytes) -> tuple[Head, int, int] | None:
    """Return the head, the CRC that its frames' CRCs start from, and their first position; None if it is no whole head."""
    if len(data) < _PREFIX.size:
        return None
    magic, length, crc = _PREFIX.unpack_from(data)
    end = _PREFIX.size + length
    body = memoryview(data)[_PREFIX.size : end]
    if magic != _HEAD_MAGIC or len(body) != length or crc32c(body) != crc:
        return None
    generation, replay_from, sequence, salt, is_synced, count = _HEAD.unpack_from(data, _PREFIX.size)
    position = _PREFIX.size + _HEAD.size
    ends = []
    for _ in range(count):
        shard, position = _decode_shard(data, position)
        ends.append(ShardEnd(shard, *_END.unpack_from(data, position)))
        position += _END.size
    capacity = GENERATION.unpack_from(data, position)[0] if position + GENERATION.size <= end else 0
    return Head(generation, replay_from, sequence, salt, tuple(ends), is_synced, capacity), crc, aligned(end)


def decode_entries(content: bytes) -> Iterator[Entry]:
    """Return the entries of a frame's content."""
    position = 0
    while position < len(content):
        shard, position = _decode_shard(content, position)
        offset, length = _ENTRY.unpack_from(content, position)
        start = position + _ENTRY.size
        position = start + length
        yield Entry(shard, offset, content[start:position])


def _decode_shard(data: bytes, position: int) -> tuple[ShardId, int]:
    (length,) = _NAME.unpack_from(data, position)
    start = position + _NAME.size
    end = start + length
    (partition,) = _PARTITION.unpack_from(data, end)
    return ShardId(data[start:end].decode(), partition), end + _PARTITION.size
