"""What is built or brought once, for all test runs of a user on this machine, whichever process comes first."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

CACHE: Final = Path.home() / ".cache" / "coordinator-server"


@contextmanager
def only_one(name: str) -> Iterator[None]:
    """One process at a time: whoever waited looks again whether there is something left to do."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
