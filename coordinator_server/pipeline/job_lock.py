"""A lock file that lets one job at a time write to a directory."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from coordinator_server.pipeline.errors import Busy


@contextlib.contextmanager
def job_lock(path: Path, held: str) -> Iterator[None]:
    """Hold the lock file at ``path``. It is created if it is missing, and released when the process ends.

    Raises Busy with ``held`` as its reason if another process holds it.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"{held}; wait for it to end") from None
        yield
    finally:
        os.close(fd)
