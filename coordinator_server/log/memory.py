"""Files in the memory of this process, for a log that may end with it. Several threads may use it, as they may use a disk.

Nothing fails and nothing is lost but by the end of the process, so a sync has nothing to do. A file that is removed stays readable
for whoever has it open.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Sequence

from coordinator_server.log.errors import LockedLog


class MemoryStorage:
    """Storage that one process has for itself. Paths are names only: no directory exists unless it is made."""

    def __init__(self) -> None:
        self._directories: set[str] = {"/"}
        self._files: dict[str, _Content] = {}
        self._locked: set[str] = set()
        # Guards the names. Files have locks of their own.
        self._lock = threading.Lock()

    def open(self, path: str, /, *, create: bool = False) -> MemoryFile:
        name = _name(path)
        with self._lock:
            content = self._files.get(name)
            if content is None:
                if not create or os.path.dirname(name) not in self._directories:
                    raise _not_found(path)
                content = self._files[name] = _Content()
        return MemoryFile(path, content)

    def create(self, path: str, /) -> MemoryFile:
        if self.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        return self.open(path, create=True)

    def open_read_only(self, path: str, /) -> MemoryFile:
        return self.open(path)

    def exists(self, path: str, /) -> bool:
        name = _name(path)
        return name in self._files or name in self._directories

    def is_dir(self, path: str, /) -> bool:
        return _name(path) in self._directories

    def size(self, path: str, /) -> int:
        return self._content(path).size()

    def list(self, path: str, /) -> Sequence[str]:
        prefix = _prefix(_name(path))
        with self._lock:
            return self._below(prefix)

    def make_dir(self, path: str, /) -> None:
        name = _name(path)
        with self._lock:
            missing = []
            while name not in self._directories:
                if name in self._files:
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
                missing.append(name)
                name = os.path.dirname(name)
            self._directories.update(missing)

    def sync_dir(self, path: str, /) -> None:
        if not self.is_dir(path):
            raise _not_found(path)

    def rename(self, old: str, new: str, /) -> None:
        source, target = _name(old), _name(new)
        with self._lock:
            if source in self._files:
                self._files[target] = self._files.pop(source)
                return
            if source not in self._directories:
                raise _not_found(old)
            if self._below(_prefix(target)):
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), new)
            moved = _prefix(source)
            for name in [name for name in self._files if name.startswith(moved)]:
                self._files[_prefix(target) + name[len(moved) :]] = self._files.pop(name)
            for name in [name for name in self._directories if name.startswith(moved)]:
                self._directories.remove(name)
                self._directories.add(_prefix(target) + name[len(moved) :])
            self._directories.remove(source)
            self._directories.add(target)

    def remove(self, path: str, /) -> None:
        with self._lock:
            self._files.pop(_name(path), None)

    def remove_dir(self, path: str, /) -> None:
        name = _name(path)
        with self._lock:
            if name not in self._directories:
                raise _not_found(path)
            if self._below(_prefix(name)):
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
            self._directories.remove(name)

    def lock(self, path: str, job: str = "", /) -> MemoryLock:
        name = _name(path)
        with self._lock:
            if name in self._locked:
                raise LockedLog(f"{os.path.dirname(path)} is in use by this process", os.getpid())
            self._locked.add(name)
        return MemoryLock(self._locked, name)

    def share(self, path: str, /) -> MemoryHold:
        return MemoryHold(self._content(path))

    def unshared(self, path: str, /) -> MemoryHold | None:
        content = self._content(path)
        return None if content.holders else MemoryHold(content)

    def random(self, size: int, /) -> bytes:
        return os.urandom(size)

    def _content(self, path: str) -> _Content:
        content = self._files.get(_name(path))
        if content is None:
            raise _not_found(path)
        return content

    def _below(self, prefix: str) -> Sequence[str]:
        """Return the names in a directory. The caller has the lock."""
        length = len(prefix)
        found = {
            name[length:].partition("/")[0]
            for names in (self._files, self._directories)
            for name in names
            if name.startswith(prefix) and len(name) > length
        }
        return sorted(found)


class _Content:
    """The bytes of a file, however many names or open files it has."""

    __slots__ = ("data", "holders", "lock")

    def __init__(self) -> None:
        self.data = bytearray()
        self.holders = 0
        self.lock = threading.Lock()

    def size(self) -> int:
        return len(self.data)


class MemoryFile:
    """An open file."""

    __slots__ = ("_content", "path")

    def __init__(self, path: str, content: _Content) -> None:
        self.path = path
        self._content = content

    def size(self) -> int:
        return self._content.size()

    def pread(self, size: int, position: int, /) -> bytes:
        with self._content.lock:
            return bytes(self._content.data[position : position + size])

    def pwrite(self, data: bytes | memoryview, position: int, /) -> int:
        with self._content.lock:
            content = self._content.data
            if position > len(content):
                content.extend(bytes(position - len(content)))
            content[position : position + len(data)] = data
        return len(data)

    def truncate(self, size: int, /) -> None:
        with self._content.lock:
            content = self._content.data
            del content[size:]
            content.extend(bytes(size - len(content)))

    def reserve(self, position: int, length: int, /) -> None:
        """Do nothing: memory needs no reservation."""

    def sync(self) -> None:
        """Do nothing: the file is as durable as it gets."""

    def close(self) -> None:
        """Do nothing: no descriptor belongs to the file."""


class MemoryLock:
    """The lock of a directory."""

    __slots__ = ("_locked", "_name")

    def __init__(self, locked: set[str], name: str) -> None:
        self._locked = locked
        self._name = name

    def fileno(self) -> int:
        """Return what is no descriptor: no process can inherit the lock."""
        return -1

    def close(self) -> None:
        self._locked.discard(self._name)


class MemoryHold:
    """A lock on a file that is read, for as long as this object lives."""

    __slots__ = ("_content",)

    def __init__(self, content: _Content) -> None:
        content.holders += 1
        self._content: _Content | None = content

    def close(self) -> None:
        content, self._content = self._content, None
        if content is not None:
            content.holders -= 1

    def __del__(self) -> None:
        # A reader that is dropped before its end never calls close.
        self.close()


def _name(path: str) -> str:
    return os.path.normpath(f"/{path}").replace("//", "/")


def _prefix(directory: str) -> str:
    return directory if directory == "/" else f"{directory}/"


def _not_found(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
