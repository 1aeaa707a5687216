"""Files as the log sees them. All its system calls go through here, so that tests can make each of them fail.

Positions and sizes are bytes. Every call may raise OSError; ``pwrite`` may write less than it was given, ``write_all`` does not.
What is durable when:

    content    after ``sync`` of the file
    a name     after ``sync_dir`` of the directory that holds it
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final, Protocol

from coordinator_server.log.errors import OutcomeUnknown
from coordinator_server.log.file_locks import LocalHold, LocalLock

ZEROS: Final = bytes(1 << 20)
_KEEP_SIZE: Final = 1  # FALLOC_FL_KEEP_SIZE of linux/falloc.h
_NOT_SUPPORTED: Final = frozenset({errno.EOPNOTSUPP, errno.ENOSYS})
# A descriptor that may not even be read; systems without it have a plain one.
_NO_RIGHTS: Final[int] = getattr(os, "O_PATH", os.O_RDONLY)
_data_sync: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)


class File(Protocol):
    """An open file. Reads and writes say where; there is no current position."""

    @property
    def path(self) -> str: ...

    def size(self) -> int: ...

    def pread(self, size: int, position: int, /) -> bytes:
        """Up to ``size`` bytes; fewer only at the end of the file."""

    def pwrite(self, data: bytes | memoryview, position: int, /) -> int:
        """Write some of ``data``, at least a byte; how many were written."""

    def truncate(self, size: int, /) -> None:
        """Cut to ``size``, and free the space that was reserved behind it."""

    def reserve(self, position: int, length: int, /) -> None:
        """Reserve disk space for this range. The file's size stays the same if the file system supports that."""

    def sync(self) -> None:
        """Return when the content is durable. After an error it is unknown what the file holds."""

    def close(self) -> None: ...


class Lock(Protocol):
    """A lock that this process holds."""

    def close(self) -> None:
        """Unlock."""


class InheritedLock(Lock, Protocol):
    """A lock that is held until all processes that have inherited its descriptor are gone."""

    def fileno(self) -> int: ...


class Storage(Protocol):
    """A file system."""

    def open(self, path: str, /, *, create: bool = False) -> File: ...

    def create(self, path: str, /) -> File:
        """Open a new file. Raises FileExistsError if the name is taken, also by a link."""

    def open_read_only(self, path: str, /) -> File:
        """Open an existing file that this process may not be allowed to write."""

    def exists(self, path: str, /) -> bool: ...

    def is_dir(self, path: str, /) -> bool:
        """Whether the path is a directory. A symbolic link is none."""

    def size(self, path: str, /) -> int: ...

    def list(self, path: str, /) -> Sequence[str]:
        """Return the names in a directory, sorted; none if it does not exist."""

    def make_dir(self, path: str, /) -> None:
        """Make the directory and its parents, as far as they do not exist."""

    def sync_dir(self, path: str, /) -> None: ...

    def rename(self, old: str, new: str, /) -> None:
        """Rename a file or directory, over a file or an empty directory if there is one. Both names become durable apart."""

    def remove(self, path: str, /) -> None:
        """Remove a file if it exists."""

    def remove_dir(self, path: str, /) -> None:
        """Remove an empty directory."""

    def lock(self, path: str, job: str = "", /) -> InheritedLock:
        """Take the lock file, for a server or for a job; LockedLog names the process that has it."""

    def share(self, path: str, /) -> Lock:
        """Take a shared lock on a file that is read, so that retention leaves it. FileNotFoundError if it does not exist."""

    def unshared(self, path: str, /) -> Lock | None:
        """Take an exclusive lock on a file that is to be removed; None while a reader has a shared one."""

    def random(self, size: int, /) -> bytes: ...


def write_all(file: File, data: bytes, position: int) -> None:
    """Write all of ``data``, however many calls it takes."""
    written = file.pwrite(data, position)
    while written < len(data):
        written += file.pwrite(memoryview(data)[written:], position + written)


def sync_file(file: File) -> None:
    """Sync a file whose content the log calls durable, or is about to: a failure is OutcomeUnknown."""
    try:
        file.sync()
    except OSError as error:
        raise OutcomeUnknown(f"cannot sync {file.path}: {error.strerror}; what it holds is not known") from error


def sync_dir(storage: Storage, path: str) -> None:
    """Sync the names in a directory: a failure is OutcomeUnknown, as in ``sync_file``."""
    try:
        storage.sync_dir(path)
    except OSError as error:
        raise OutcomeUnknown(f"cannot sync {path}: {error.strerror}; what it holds is not known") from error


def make_dir_durably(storage: Storage, path: str) -> None:
    """Make a directory and its missing parents. The name of each is synced before a directory in it is made.

    The name of an existing directory is synced, too: the process that made it may have been killed before its sync.
    """
    path = path.rstrip("/") or "/"
    parent = os.path.dirname(path) or "."
    is_new = not storage.exists(path)
    if is_new:
        make_dir_durably(storage, parent)
    storage.make_dir(path)
    try:
        storage.sync_dir(parent)
    except PermissionError:
        # Somebody else made a directory in one that this user may not read.
        if is_new:
            raise


def replace_file(storage: Storage, path: str, data: bytes) -> None:
    """Replace the content of ``path`` atomically and durably: after a crash it is the old or the new."""
    attempt = f"{path}.new"
    storage.remove(attempt)
    with closing(storage.open(attempt, create=True)) as file:
        write_all(file, data, 0)
        file.sync()
    storage.rename(attempt, path)
    storage.sync_dir(os.path.dirname(path))


def read_file(storage: Storage, path: str) -> bytes:
    """Return the whole content of a file."""
    with closing(storage.open_read_only(path)) as file:
        return file.pread(file.size(), 0)


def remove_tree(storage: Storage, path: str) -> None:
    """Remove a file, or a directory with everything in it."""
    if not storage.is_dir(path):
        storage.remove(path)
        return
    for name in storage.list(path):
        remove_tree(storage, f"{path}/{name}")
    storage.remove_dir(path)


def discard_tree(storage: Storage, path: str) -> None:
    """Do ``remove_tree`` as far as that is possible: nothing depends on what stays."""
    with contextlib.suppress(OSError):
        remove_tree(storage, path)


class _SpareDescriptor:
    """A descriptor of the process that is kept free for syncing directories:
    clients that use up all others must not look like a failed sync.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._fd = -1

    def open_directory(self, path: str) -> int:
        try:
            return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE) or self._fd < 0:
                raise
            os.close(self._fd)
            self._fd = -1
            return os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def fill(self) -> None:
        if self._fd < 0:
            with contextlib.suppress(OSError):
                self._fd = os.open("/", _NO_RIGHTS | os.O_CLOEXEC)


_SPARE: Final = _SpareDescriptor()


class LocalStorage:
    """The operating system's files."""

    def open(self, path: str, /, *, create: bool = False) -> File:
        return LocalFile(path, os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o644))

    def create(self, path: str, /) -> File:
        return LocalFile(path, os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644))

    def open_read_only(self, path: str, /) -> File:
        return LocalFile(path, os.open(path, os.O_RDONLY))

    def exists(self, path: str, /) -> bool:
        return os.path.exists(path)

    def is_dir(self, path: str, /) -> bool:
        return os.path.isdir(path) and not os.path.islink(path)

    def size(self, path: str, /) -> int:
        return os.stat(path).st_size

    def list(self, path: str, /) -> Sequence[str]:
        try:
            return sorted(os.listdir(path))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def make_dir(self, path: str, /) -> None:
        os.makedirs(path, exist_ok=True)

    def sync_dir(self, path: str, /) -> None:
        with _SPARE.lock:
            fd = _SPARE.open_directory(path)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
                _SPARE.fill()

    def rename(self, old: str, new: str, /) -> None:
        os.rename(old, new)

    def remove(self, path: str, /) -> None:
        try:
            os.unlink(path)
        except FileNotFoundError:
            return

    def remove_dir(self, path: str, /) -> None:
        os.rmdir(path)

    def lock(self, path: str, job: str = "", /) -> InheritedLock:
        return LocalLock(path, job)

    def share(self, path: str, /) -> Lock:
        return LocalHold(path, fcntl.LOCK_SH)

    def unshared(self, path: str, /) -> Lock | None:
        try:
            return LocalHold(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None

    def random(self, size: int, /) -> bytes:
        return os.urandom(size)


LOCAL: Final[Storage] = LocalStorage()


class LocalFile:
    """A file descriptor."""

    __slots__ = ("_fd", "path")

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self._fd = fd

    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def pread(self, size: int, position: int, /) -> bytes:
        data = os.pread(self._fd, size, position)
        while 0 < len(data) < size:
            more = os.pread(self._fd, size - len(data), position + len(data))
            if not more:
                break
            data += more
        return data

    def pwrite(self, data: bytes | memoryview, position: int, /) -> int:
        return os.pwrite(self._fd, data, position)

    def truncate(self, size: int, /) -> None:
        os.ftruncate(self._fd, size)

    def reserve(self, position: int, length: int, /) -> None:
        if not _allocate(self._fd, position, length):
            self._reserve_with_zeros(position + length)

    def sync(self) -> None:
        _data_sync(self._fd)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._fd

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _reserve_with_zeros(self, end: int) -> None:
        # Without fallocate the file ends in zeros until recovery, sealing or closing cuts it.
        position = self.size()
        while position < end:
            position += os.pwrite(self._fd, memoryview(ZEROS)[: end - position], position)


def _allocate(fd: int, position: int, length: int) -> bool:
    """Call fallocate(2) with FALLOC_FL_KEEP_SIZE, which Python's os module lacks. False if it is not supported."""
    if _fallocate is None:
        return False
    while _fallocate(fd, _KEEP_SIZE, position, length) != 0:
        code = ctypes.get_errno()
        if code in _NOT_SUPPORTED:
            return False
        if code != errno.EINTR:
            raise OSError(code, os.strerror(code))
    return True


def _find_fallocate() -> Callable[[int, int, int, int], int] | None:
    function = getattr(ctypes.CDLL(None, use_errno=True), "fallocate64", None)
    if function is not None:
        function.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
        function.restype = ctypes.c_int
    return function


_fallocate: Final = _find_fallocate()
