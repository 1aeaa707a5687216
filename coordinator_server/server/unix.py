"""Unix sockets in the data directory: for the server's user alone, and however deep the directory is.

A Unix socket's path is short; a directory that is too deep is reached through a descriptor of it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def short_path(path: Path) -> Iterator[str]:
    """A path that leads to ``path`` while this lasts, short enough to bind or connect to."""
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)


@contextlib.contextmanager
def place_for_socket(path: Path) -> Iterator[str]:
    """A path to bind to. The data directory's lock is held, so a socket that is there is a dead process's."""
    path.unlink(missing_ok=True)
    with short_path(path) as short:
        before = os.umask(0o177)
        try:
            yield short
        finally:
            os.umask(before)
