"""The bytes of the journal: heads, frames and entries, written and read back.

    head    magic 8 | length u32 | crc u32 | generation u64 | replay_from u64 | sequence u64 | salt u64 | is_synced u8 | count u32 | ends | capacity u64
    end     topic length u16 | topic | partition i32 | segment i64 | size i64 | offset i64
    frame   magic 4 | generation u64 | sequence u64 | length u32 | crc u32 | entries      at the next multiple of 512 bytes
    entry   topic length u16 | topic | partition i32 | offset i64 | length u32 | record batches

*Generation* counts uses of files; *sequence* counts frames, over all files. A frame's CRC covers everything but its magic and
starts from its head's CRC, which covers a random salt: no frame of an earlier use, and nothing a client puts into a batch,
parses as a continuation.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from struct import Struct as Layout
from typing import Final, NamedTuple

from crc32c import crc32c
from msgspec import Struct

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.rot import MOST_BYTES, start_of, without_flip
from coordinator_server.log.store import ShardId
from coordinator_server.log.walk import Whole, walk

SECTOR: Final = 512
WINDOW_BYTES: Final = 1 << 18
FRAME_BYTES: Final = 28  # before the entries
_FRAME_MAGIC: Final = b"jFrm"
_HEAD_MAGIC: Final = b"jHead\0\0\1"
_PREFIX: Final = Layout(">8sII")
_HEAD: Final = Layout(">QQQQ?I")
_NAME: Final = Layout(">H")
_END: Final = Layout(">qqq")
_FRAME: Final = Layout(">QQII")  # after the magic
_CHECKED: Final = Layout(">QQI")
_LENGTH_CRC: Final = Layout(">II")
_GENERATION: Final = Layout(">Q")
_PARTITION: Final = Layout(">i")
_ENTRY: Final = Layout(">qI")


class ShardEnd(NamedTuple):
    """How far a shard is durable in its segments: ``size`` bytes of the active ``segment``, and the offset that comes next."""

    shard: ShardId
    segment: int
    size: int
    offset: int


class Entry(NamedTuple):
    """Batches of one shard in a frame."""

    shard: ShardId
    offset: int
    data: bytes


class Head(Struct, frozen=True):
    """What a journal file begins with. ``ends`` covers every frame before ``sequence``, the first of generation ``replay_from``."""

    generation: int
    replay_from: int
    sequence: int
    salt: int
    ends: tuple[ShardEnd, ...]
    is_synced: bool = True
    capacity: int = 0  # bytes of the file; 0 when its writer did not say


def aligned(position: int) -> int:
    """Where the next sector begins: a torn sector never holds bytes of two frames."""
    return -(-position // SECTOR) * SECTOR


def shard_prefix(shard: ShardId) -> bytes:
    """How a shard is named in heads and frames."""
    topic = shard.topic.encode()
    return _NAME.pack(len(topic)) + topic + _PARTITION.pack(shard.partition)


def entry_header(prefix: bytes, offset: int, length: int) -> bytes:
    """What comes before the batches of an entry."""
    return prefix + _ENTRY.pack(offset, length)


def encode_frame(generation: int, sequence: int, seed: int, content: Sequence[bytes]) -> bytes:
    """A frame of entries, whose bytes come in any number of parts: they are copied once."""
    checked = _CHECKED.pack(generation, sequence, sum(map(len, content)))
    crc: int = crc32c(checked, seed)
    for part in content:
        crc = crc32c(part, crc)
    return b"".join((_FRAME_MAGIC, checked, crc.to_bytes(4, "big"), *content))


def encode_head(head: Head) -> tuple[bytes, int]:
    """The bytes of a head, and the CRC that its frames start from."""
    parts = [_HEAD.pack(head.generation, head.replay_from, head.sequence, head.salt, head.is_synced, len(head.ends))]
    for end in head.ends:
        parts += (shard_prefix(end.shard), _END.pack(end.segment, end.size, end.offset))
    parts.append(_GENERATION.pack(head.capacity))
    body = b"".join(parts)
    crc: int = crc32c(body)
    return _PREFIX.pack(_HEAD_MAGIC, len(body), crc) + body, crc


def decode_head(data: bytes) -> tuple[Head, int, int] | None:
    """The head, the CRC its frames start from, and where they start; None for anything but a whole head."""
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
    capacity = _GENERATION.unpack_from(data, position)[0] if position + _GENERATION.size <= end else 0
    return Head(generation, replay_from, sequence, salt, tuple(ends), is_synced, capacity), crc, aligned(end)


class FrameReader:
    """The frames of one file. After ``contents`` is exhausted ``position`` is where the next frame would be.

    ``read(size, position)`` gives bytes of the file. They are taken a window at a time: a file is mostly empty.
    """

    def __init__(self, path: str, read: Callable[[int, int], bytes], head: Head, seed: int, position: int) -> None:
        self.path = path
        self.position = position
        self._read = read
        self._head = head
        self._seed = seed
        self._window = b""
        self._window_start = 0
        self.mended: list[int] = []

    def contents(self, sequence: int) -> Iterator[tuple[int, bytes]]:
        """Sequence and content of each frame. DamagedLog when the frames end before one that is whole: only the last can be torn.

        A last frame that is not right may be torn, and then nobody was told that it is durable, or rotten, and then somebody was. A frame
        of which a single bit is wrong was whole once, and is put right; its batches have checksums of their own, which must hold then.
        More damage than that to the last frame, before its batches are in their segments, cannot be told from a write that was cut short.
        """
        while frame := self._frame_at(self.position) or self._mended(self.position, sequence):
            yield frame
            sequence = frame[0] + 1
            self.position = aligned(self.position + FRAME_BYTES + len(frame[1]))
        if self._head.is_synced:
            self._refuse_later_frames(sequence)

    def _frame_at(self, position: int) -> tuple[int, bytes] | None:
        prefix = self._bytes(position, FRAME_BYTES)
        if len(prefix) < FRAME_BYTES or not prefix.startswith(_FRAME_MAGIC):
            return None
        generation, sequence, length, crc = _FRAME.unpack_from(prefix, len(_FRAME_MAGIC))
        if generation != self._head.generation:
            return None
        content = self._bytes(position + FRAME_BYTES, length)
        if len(content) < length or crc32c(content, crc32c(prefix[4 : 4 + _CHECKED.size], self._seed)) != crc:
            return None
        return sequence, content

    def _mended(self, position: int, sequence: int) -> tuple[int, bytes] | None:
        """The frame ``sequence``, if all that is wrong with it is one bit: then it was whole, and has rotted. See ``contents``."""
        raw = self._bytes(position, FRAME_BYTES)
        sure = _FRAME_MAGIC + _GENERATION.pack(self._head.generation) + _GENERATION.pack(sequence)
        if not self._head.is_synced or len(raw) < FRAME_BYTES:
            return None
        wrong = (int.from_bytes(raw[: len(sure)], "big") ^ int.from_bytes(sure, "big")).bit_count()
        if wrong > 1:
            return None
        stated, crc = _LENGTH_CRC.unpack_from(raw, len(sure))
        for length in (stated, *(stated ^ 1 << bit for bit in range(32))) if wrong == 0 else (stated,):
            content = self._bytes(position + FRAME_BYTES, length)
            found = crc32c(content, crc32c(_CHECKED.pack(self._head.generation, sequence, length), self._seed)) ^ crc
            if len(content) < length or (found and length != stated):
                continue
            whole = content if found.bit_count() <= 1 - wrong else None if wrong else without_flip(content, found)
            if whole is not None and _holds_whole_batches(whole):
                self.mended.append(position)
                return sequence, whole
        return None

    def _refuse_later_frames(self, sequence: int) -> None:
        needle = _FRAME_MAGIC + _GENERATION.pack(self._head.generation)
        block_start = self.position
        while block := self._read(WINDOW_BYTES, block_start):
            # Frames start at sectors, and so do blocks: none is cut before its generation.
            found = block.find(needle)
            while found >= 0:
                position = block_start + found
                frame = self._later_frame(position) if position % SECTOR == 0 else None
                if frame is not None and frame[0] >= sequence:
                    why = f"frame {sequence} is damaged, and frame {frame[0]} at byte {position} was written after it"
                    raise DamagedLog(self.path, self.position, why)
                found = block.find(needle, found + 1)
            block_start += len(block)

    def _later_frame(self, position: int) -> tuple[int, bytes] | None:
        """A whole frame, or one with a rotten bit: either was written after the ones before it were durable."""
        header = self._bytes(position, FRAME_BYTES)
        return self._frame_at(position) or (
            self._mended(position, _FRAME.unpack_from(header, len(_FRAME_MAGIC))[1]) if len(header) == FRAME_BYTES else None
        )

    def _bytes(self, position: int, size: int) -> bytes:
        start = position - self._window_start
        if start < 0 or start + size > len(self._window):
            self._window = self._read(max(size, WINDOW_BYTES), position)
            self._window_start, start = position, 0
        return self._window[start : start + size]


def newest_frame_generation(data: bytes) -> int:
    """The newest generation that a frame in a file without a head claims to be of; -1 when there is none."""
    newest = -1
    position = data.find(_FRAME_MAGIC)
    while 0 <= position <= len(data) - FRAME_BYTES:
        if position % SECTOR == 0:
            newest = max(newest, _GENERATION.unpack_from(data, position + 4)[0])
        position = data.find(_FRAME_MAGIC, position + 1)
    return newest


def decode_entries(content: bytes) -> Iterator[Entry]:
    """The entries of a frame."""
    position = 0
    while position < len(content):
        shard, position = _decode_shard(content, position)
        offset, length = _ENTRY.unpack_from(content, position)
        start = position + _ENTRY.size
        position = start + length
        yield Entry(shard, offset, content[start:position])


def _holds_whole_batches(content: bytes) -> bool:
    try:
        return all(isinstance(found, Whole) for entry in decode_entries(content) for found in walk(entry.data, entry.offset))
    except (struct.error, UnicodeDecodeError):
        return False


def _decode_shard(data: bytes, position: int) -> tuple[ShardId, int]:
    (length,) = _NAME.unpack_from(data, position)
    start = position + _NAME.size
    end = start + length
    (partition,) = _PARTITION.unpack_from(data, end)
    return ShardId(data[start:end].decode(), partition), end + _PARTITION.size


class LooseFrame(NamedTuple):
    """A frame that was found without its head."""

    generation: int
    sequence: int
    content: bytes


def loose_frames(data: bytes) -> list[LooseFrame]:
    """The whole frames in a journal file, also of earlier uses of it, whose heads are gone.

    What their checksums started from is not known then; but what the checksums of two frames of a generation both started from is it.
    """
    found: dict[tuple[int, int], list[LooseFrame]] = {}
    position = data.find(_FRAME_MAGIC)
    while 0 <= position <= len(data) - FRAME_BYTES:
        start = position + FRAME_BYTES
        generation, sequence, length, crc = _FRAME.unpack_from(data, position + len(_FRAME_MAGIC))
        if position % SECTOR == 0 and length <= min(len(data) - start, MOST_BYTES):
            content = data[start : start + length]
            seed = start_of(_CHECKED.pack(generation, sequence, length) + content, crc)
            found.setdefault((generation, seed), []).append(LooseFrame(generation, sequence, content))
        position = data.find(_FRAME_MAGIC, position + 1)
    return [frame for frames in found.values() if len(frames) > 1 for frame in frames]
