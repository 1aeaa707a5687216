"""One job at a time on what it writes to."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from coordinator_server.pipeline.errors import Busy


@contextlib.contextmanager
def job_lock(path: Path, held: str) -> Iterator[None]:
    """Hold the lock file at ``path``, made if need be; it goes with its process. Busy says ``held`` when somebody else has it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"{held}; wait for it to end") from None
        yield
    finally:
        os.close(fd)
