"""What was read of chunks that have ended: kept for those that were used last, so that each answer reads others."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sized
from threading import Lock
from typing import Generic, TypeVar

from coordinator_server.pipeline.index.reader import Chunk

T = TypeVar("T", bound=Sized)


class ChunkCache(Generic[T]):
    """Values by group and chunk, at most ``most`` items of them in all. Any thread may use it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, Chunk], T] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def find(self, group_id: str, chunk: Chunk) -> T | None:
        """Return the value if it is known."""
        with self._lock:
            found = self._kept.get((group_id, chunk))
            if found is not None:
                self._kept.move_to_end((group_id, chunk))
        return found

    def get(self, group_id: str, chunk: Chunk, read: Callable[[], T]) -> T:
        """Return the value, and read it if it is not known."""
        found = self.find(group_id, chunk)
        if found is not None:
            return found
        found = read()
        with self._lock:
            if (group_id, chunk) not in self._kept:
                self._size += len(found)
            self._kept[group_id, chunk] = found
            while self._size > self._most:
                self._size -= len(self._kept.popitem(last=False)[1])
        return found
