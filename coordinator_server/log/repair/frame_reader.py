"""Read the journal's frames back, and decide which of them are whole, rotten or torn.

Recovery reads the frames behind a head, in order. Salvage looks for frames anywhere, also when their head is gone.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from struct import Struct as Layout
from typing import Final, NamedTuple

from crc32c import crc32c

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.repair.batch_scan import WholeBatch, scan_batches
from coordinator_server.log.repair.bit_flip import MOST_BYTES, start_of, without_flip
from coordinator_server.log.write.frames import (
    FRAME_BYTES,
    FRAME_CHECKED,
    FRAME_HEADER,
    FRAME_MAGIC,
    GENERATION,
    SECTOR,
    Head,
    aligned,
    decode_entries,
)

WINDOW_BYTES: Final = 1 << 18
_LENGTH_CRC: Final = Layout(">II")


class FrameReader:
    """The frames of one file. When ``contents`` is exhausted, ``position`` is where the next frame would be.

    ``read(size, position)`` returns bytes of the file. It is called for one window after another, because a file is mostly empty.
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
        """Yield sequence and content of each frame. DamagedLog if a whole frame comes after a bad one: only the last can be torn.

        A bad last frame is either torn, and then its submit was never answered, or damaged later,
        and then it was. If a single bit is wrong, the frame was whole once: it is corrected,
        provided that the checksums of its batches hold then. More damage to the last frame cannot
        be told from a torn write, as long as its batches are not in their segments.
        """
        while frame := self._frame_at(self.position) or self._mended(self.position, sequence):
            yield frame
            sequence = frame[0] + 1
            self.position = aligned(self.position + FRAME_BYTES + len(frame[1]))
        if self._head.is_synced:
            self._refuse_later_frames(sequence)

    def _frame_at(self, position: int) -> tuple[int, bytes] | None:
        prefix = self._bytes(position, FRAME_BYTES)
        if len(prefix) < FRAME_BYTES or not prefix.startswith(FRAME_MAGIC):
            return None
        generation, sequence, length, crc = FRAME_HEADER.unpack_from(prefix, len(FRAME_MAGIC))
        if generation != self._head.generation:
            return None
        content = self._bytes(position + FRAME_BYTES, length)
        if len(content) < length or crc32c(content, crc32c(prefix[4 : 4 + FRAME_CHECKED.size], self._seed)) != crc:
            return None
        return sequence, content

    def _mended(self, position: int, sequence: int) -> tuple[int, bytes] | None:
        """Return the frame ``sequence`` if a single bit of it is wrong, corrected. See ``contents``."""
        raw = self._bytes(position, FRAME_BYTES)
        sure = FRAME_MAGIC + GENERATION.pack(self._head.generation) + GENERATION.pack(sequence)
        if not self._head.is_synced or len(raw) < FRAME_BYTES:
            return None
        wrong = (int.from_bytes(raw[: len(sure)], "big") ^ int.from_bytes(sure, "big")).bit_count()
        if wrong > 1:
            return None
        stated, crc = _LENGTH_CRC.unpack_from(raw, len(sure))
        for length in (stated, *(stated ^ 1 << bit for bit in range(32))) if wrong == 0 else (stated,):
            content = self._bytes(position + FRAME_BYTES, length)
            found = crc32c(content, crc32c(FRAME_CHECKED.pack(self._head.generation, sequence, length), self._seed)) ^ crc
            if len(content) < length or (found and length != stated):
                continue
            whole = content if found.bit_count() <= 1 - wrong else None if wrong else without_flip(content, found)
            if whole is not None and _holds_whole_batches(whole):
                self.mended.append(position)
                return sequence, whole
        return None

    def _refuse_later_frames(self, sequence: int) -> None:
        needle = FRAME_MAGIC + GENERATION.pack(self._head.generation)
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
        """Return a whole frame, or one with a single wrong bit. Either was written after the frames before it were durable."""
        header = self._bytes(position, FRAME_BYTES)
        return self._frame_at(position) or (
            self._mended(position, FRAME_HEADER.unpack_from(header, len(FRAME_MAGIC))[1]) if len(header) == FRAME_BYTES else None
        )

    def _bytes(self, position: int, size: int) -> bytes:
        start = position - self._window_start
        if start < 0 or start + size > len(self._window):
            self._window = self._read(max(size, WINDOW_BYTES), position)
            self._window_start, start = position, 0
        return self._window[start : start + size]


def newest_frame_generation(data: bytes) -> int:
    """Return the newest generation that a frame in a file without a head states; -1 if there is no frame."""
    newest = -1
    position = data.find(FRAME_MAGIC)
    while 0 <= position <= len(data) - FRAME_BYTES:
        if position % SECTOR == 0:
            newest = max(newest, GENERATION.unpack_from(data, position + 4)[0])
        position = data.find(FRAME_MAGIC, position + 1)
    return newest


def _holds_whole_batches(content: bytes) -> bool:
    try:
        return all(
            isinstance(found, WholeBatch) for entry in decode_entries(content) for found in scan_batches(entry.data, entry.offset)
        )
    except (struct.error, UnicodeDecodeError):
        return False


class LooseFrame(NamedTuple):
    """A frame that was found without the head of its file."""

    generation: int
    sequence: int
    content: bytes


def loose_frames(data: bytes) -> list[LooseFrame]:
    """Return the whole frames in a journal file, also of earlier uses of the file, whose heads are gone.

    Without the head it is unknown what a frame's checksum started from. A frame counts if another
    frame of its generation has a checksum that started from the same value.
    """
    found: dict[tuple[int, int], list[LooseFrame]] = {}
    position = data.find(FRAME_MAGIC)
    while 0 <= position <= len(data) - FRAME_BYTES:
        start = position + FRAME_BYTES
        generation, sequence, length, crc = FRAME_HEADER.unpack_from(data, position + len(FRAME_MAGIC))
        if position % SECTOR == 0 and length <= min(len(data) - start, MOST_BYTES):
            content = data[start : start + length]
            seed = start_of(FRAME_CHECKED.pack(generation, sequence, length) + content, crc)
            found.setdefault((generation, seed), []).append(LooseFrame(generation, sequence, content))
        position = data.find(FRAME_MAGIC, position + 1)
    return [frame for frames in found.values() if len(frames) > 1 for frame in frames]
