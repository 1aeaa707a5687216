"""Locks on files, which the operating system drops when the process ends."""

from __future__ import annotations

import errno
import fcntl
import os

from coordinator_server.log.errors import LockedLog
from coordinator_server.log.jobs import Holder


class LocalLock:
    """An flock on a file that holds the process's pid, and its job. The operating system drops it when the process ends."""

    __slots__ = ("_fd",)

    def __init__(self, path: str, job: str = "") -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            found = _holder_in(self._fd)
            self.close()
            raise LockedLog(f"{os.path.dirname(path)} is in use by {found}", found.pid, found.job) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{f'{os.getpid()} {job}'.strip()}\n".encode(), 0)

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


class LocalHold:
    """An flock on an existing file, for as long as this object lives.

    It excludes other processes, and other holds of this one.
    """

    __slots__ = ("_fd",)

    def __init__(self, path: str, mode: int) -> None:
        # ``__del__`` runs even if the file does not exist.
        self._fd = -1
        self._fd = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(self._fd, mode)
            # It may have been removed, or replaced, while we waited.
            if os.fstat(self._fd).st_ino != os.stat(path).st_ino:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        # A reader that is dropped before its end never calls close.
        self.close()


def holder(path: str) -> Holder | None:
    """Return the process that has the lock file; None if it is free. Nothing is changed."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder_in(fd)
    finally:
        os.close(fd)
    return None


def _holder_in(fd: int) -> Holder:
    pid, _, job = os.pread(fd, 64, 0).decode(errors="replace").strip().partition(" ")
    return Holder(int(pid) if pid.isdecimal() else None, job)
