"""A long answer, written a piece at a time as the peer reads, so that what was written is in memory no longer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from coordinator_server.server.wire.turns import Turns

PIECE_BYTES: Final = 1 << 18
"""A longer answer is written in pieces of about this size, which is more than a transport keeps before it calls the peer slow."""
PIECES_PER_STEP: Final = 4
"""A mebibyte: less than a millisecond, if the peer reads as fast."""


class Pieces:
    """A frame in pieces. Its length is the number of bytes that are left."""

    __slots__ = ("_left", "_size")

    def __init__(self) -> None:
        self._left: deque[bytearray | memoryview] = deque()
        self._size = 0

    @classmethod
    def of(cls, frame: bytearray) -> Pieces:
        """Return a frame in pieces, without a copy: nothing may change its length afterwards."""
        pieces, whole = cls(), memoryview(frame)
        for start in range(0, len(frame), PIECE_BYTES):
            pieces.append(whole[start : start + PIECE_BYTES])
        return pieces

    def __len__(self) -> int:
        return self._size

    def append(self, piece: bytearray | memoryview) -> None:
        """Add a piece, which nothing may change afterwards."""
        self._left.append(piece)
        self._size += len(piece)

    def prepend(self, piece: bytearray) -> None:
        """Add a piece in front of all others."""
        self._left.appendleft(piece)
        self._size += len(piece)

    def extend(self, others: Pieces) -> None:
        """Add all pieces of a frame."""
        self._left += others._left
        self._size += others._size

    def pop(self) -> bytearray | memoryview:
        """Take the first piece."""
        piece = self._left.popleft()
        self._size -= len(piece)
        return piece


class LongWrite:
    """Writes a long answer of a connection, and what becomes ready behind it. It exists until all is written.

    ``write`` takes a piece. It may call ``pause``: the peer does not read. ``done`` is called when nothing is left.
    """

    def __init__(self, write: Callable[[bytearray | memoryview], None], turns: Turns, done: Callable[[], None]) -> None:
        self.left = Pieces()
        self._write = write
        self._turns = turns
        self._done = done
        self._is_paused = self._is_queued = False

    def pause(self) -> None:
        """Write nothing until ``go_on``."""
        self._is_paused = True

    def go_on(self) -> None:
        """Write some pieces in a later turn, and the others in those that follow."""
        self._is_paused = False
        if not self._is_queued:
            self._is_queued = True
            self._turns.queue(self._step)

    def _step(self) -> None:
        self._is_queued = False
        for _ in range(PIECES_PER_STEP):
            if not self.left:
                self._done()
                return
            if self._is_paused:
                return
            self._write(self.left.pop())
        self.go_on()
