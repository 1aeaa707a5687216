"""Files that survive the end of a process, also by SIGKILL, and need not survive that of the machine: nothing is synced."""

from __future__ import annotations

import os

from coordinator_server.log.storage import File, LocalFile, LocalStorage


class UnsyncedFile(LocalFile):
    """A file whose bytes the operating system has."""

    __slots__ = ()

    def sync(self) -> None:
        """Do nothing."""


class UnsyncedStorage(LocalStorage):
    """The operating system's files, without the time that syncs take."""

    def open(self, path: str, /, *, create: bool = False) -> File:
        return UnsyncedFile(path, os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o600))

    def sync_dir(self, path: str, /) -> None:
        """Do nothing."""
