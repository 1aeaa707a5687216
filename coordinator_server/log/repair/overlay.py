"""A view of the file system that keeps all changes in memory, so that a start can be tried on a directory without changing it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from coordinator_server.log.errors import LogError
from coordinator_server.log.storage import File, InheritedLock, LocalFile, LocalStorage


class ReadOnlyStorage(LocalStorage):
    """The operating system's files, opened for reading only."""

    def open(self, path: str, /, *, create: bool = False) -> File:
        return LocalFile(path, os.open(path, os.O_RDONLY))


class OverlayStorage(ReadOnlyStorage):
    """Changes are seen by those who read through the same object, and by no one else."""

    def __init__(self) -> None:
        self._changes: dict[str, _Changes] = {}
        self._removed: set[str] = set()

    def open(self, path: str, /, *, create: bool = False) -> File:
        changes = self._changes.setdefault(path, _Changes())
        below = super().open(path) if super().exists(path) and path not in self._removed else None
        if below is None and not changes.is_made and not create:
            raise FileNotFoundError(path)
        changes.is_made = True
        return _OverlayFile(path, below, changes)

    def open_read_only(self, path: str, /) -> File:
        return self.open(path) if path in self._changes or path in self._removed else super().open_read_only(path)

    def exists(self, path: str, /) -> bool:
        return path not in self._removed and (super().exists(path) or path in self._changes)

    def size(self, path: str, /) -> int:
        changes = self._changes.get(path)
        return changes.size if changes and changes.size >= 0 else super().size(path)

    def list(self, path: str, /) -> Sequence[str]:
        made = {os.path.basename(each) for each in self._changes if os.path.dirname(each) == path}
        return sorted(name for name in {*super().list(path), *made} if f"{path}/{name}" not in self._removed)

    def make_dir(self, path: str, /) -> None:
        """Do nothing: a directory exists as soon as a file in it does."""

    def sync_dir(self, path: str, /) -> None:
        """Do nothing: names in memory are not synced."""

    def rename(self, old: str, new: str, /) -> None:
        raise LogError(f"a start would rename {old}: that cannot be tried")

    def remove(self, path: str, /) -> None:
        self._changes.pop(path, None)
        self._removed.add(path)

    def lock(self, path: str, job: str = "", /) -> InheritedLock:
        raise LogError(f"a start that is only tried does not lock {path}")


class _Changes:
    """The changes to a file: pieces, later ones over earlier ones, and the new size, or -1."""

    __slots__ = ("is_made", "pieces", "size")

    def __init__(self) -> None:
        self.pieces: list[tuple[int, bytes]] = []
        self.size = -1
        self.is_made = False


class _OverlayFile:
    def __init__(self, path: str, below: File | None, changes: _Changes) -> None:
        self.path = path
        self._below = below
        self._changes = changes
        if below is None and changes.size < 0:
            changes.size = 0

    def size(self) -> int:
        if self._changes.size >= 0 or self._below is None:
            return self._changes.size
        return self._below.size()

    def pread(self, size: int, position: int, /) -> bytes:
        size = max(min(size, self.size() - position), 0)
        data = bytearray(self._below.pread(size, position) if self._below is not None else b"")
        data.extend(bytes(size - len(data)))
        for start, piece in self._changes.pieces:
            first, last = max(start, position), min(start + len(piece), position + size)
            if first < last:
                data[first - position : last - position] = piece[first - start : last - start]
        return bytes(data)

    def pwrite(self, data: bytes | memoryview, position: int, /) -> int:
        size = self.size()
        self._changes.pieces.append((position, bytes(data)))
        self._changes.size = max(size, position + len(data))
        return len(data)

    def truncate(self, size: int, /) -> None:
        old = self.size()
        if size > old:
            self._changes.pieces.append((old, bytes(size - old)))
        else:
            # Over the bytes that are cut off: they do not come back when the file grows.
            self._changes.pieces.append((size, bytes(old - size)))
        self._changes.size = size

    def reserve(self, position: int, length: int, /) -> None:
        """Do nothing: there is room in memory."""

    def sync(self) -> None:
        """Do nothing: nothing has to be durable."""

    def close(self) -> None:
        if self._below is not None:
            self._below.close()
