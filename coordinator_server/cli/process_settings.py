"""What a process sets for itself: its priority and limits, and who may read the files that it creates."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
from pathlib import Path
from typing import Final

_NICE: Final = 19
# If memory is short, the kernel kills this process first.
_OOM_FILE: Final = Path("/proc/self/oom_score_adj")
_OOM_SCORE: Final = "1000"
_PRIVATE: Final = 0o077
_M_MMAP_THRESHOLD: Final = -3
_LARGE_BYTES: Final = 1 << 20


def run_at_low_priority() -> None:
    """Leave processor and memory to others. A sandbox may forbid it; the process works as well without."""
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    leave_memory_to_others()


def leave_memory_to_others() -> None:
    """Let the kernel kill this process first if memory is short. A sandbox may forbid it."""
    with contextlib.suppress(OSError):
        _OOM_FILE.write_text(_OOM_SCORE)


def allow_all_files() -> None:
    """Raise the limit of open files to the most that the system allows: each connection and each shard has one or more."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def create_private_files() -> None:
    """Create files and directories that only the own user can read, whatever the umask of the caller is."""
    os.umask(_PRIVATE)


def return_freed_memory() -> None:
    """Give what a large message took back to the system at once. By default glibc keeps blocks of up to 32 MiB for itself."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
