"""The machine: its clock, the disk of the data directory, and the limits of the server's process."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from coordinator_server.cli.diagnosis.finding import NOTE, OK, PROBLEM, WARNING, Finding

LITTLE_BYTES: Final = 1 << 30
LITTLE_PART: Final = 0.05
TOO_LITTLE_BYTES: Final = 64 << 20
TOO_LITTLE_PART: Final = 0.2
"""Of a small disk. There the server reserves less room ahead of its log, in proportion to the disk (log/disk_share.py)."""
FUTURE_S: Final = 60
FEW_FILES: Final = 4096
MOSTLY: Final = 0.8
_UNSYNCHRONIZED: Final = 5
_TIMEX_BYTES: Final = 1024


def check_disk(data_dir: Path) -> Iterator[Finding]:
    """Check how much room the file system of the log has."""
    found = os.statvfs(data_dir)
    free, size = found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize
    text = f"{free >> 20:,} MiB of {size >> 20:,} MiB are free"
    more = "free some space or enlarge the file system; 'coordinator-server compact' makes the log smaller"
    if free < min(TOO_LITTLE_BYTES, size * TOO_LITTLE_PART):
        yield Finding(PROBLEM, "disk", text, more)
    elif free < LITTLE_BYTES and free < size * LITTLE_PART:
        yield Finding(WARNING, "disk", text, more)
    elif found.f_files and found.f_favail < max(1000, found.f_files // 100):
        yield Finding(WARNING, "disk", f"{found.f_favail:,} of {found.f_files:,} inodes are free", "remove files")
    else:
        yield Finding(OK, "disk", text)


def check_clock(data_dir: Path, now_s: float | None = None) -> Iterator[Finding]:
    """Check that the clock is synchronized, and has not gone back since the log was written."""
    now_s = time.time() if now_s is None else now_s
    newest = max((each.stat().st_mtime for each in data_dir.rglob("*") if each.is_file()), default=0.0)
    if newest - now_s > FUTURE_S:
        yield Finding(
            PROBLEM,
            "clock",
            f"the log was written {newest - now_s:,.0f} s in the future: the clock has gone back",
            "set the clock: transactions time out by it, and the times in the log stand still until it has passed them",
        )
    if not _is_synchronized():
        yield Finding(NOTE, "clock", "the kernel's clock is not synchronized", "run chrony or systemd-timesyncd")
    else:
        yield Finding(OK, "clock", "synchronized")


def _is_synchronized() -> bool:
    """Ask the kernel, whose state TIME_ERROR means that nothing synchronizes its clock.

    If it cannot be asked, it counts as synchronized.
    """
    try:
        # Modes 0: it only reads. The structure is smaller than this.
        state: int = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (OSError, AttributeError):
        return True
    return state != _UNSYNCHRONIZED


def check_process(pid: int, proc: Path = Path("/proc")) -> Iterator[Finding]:
    """Check the limits of a server's process."""
    name = f"process {pid}"
    try:
        limits = (proc / str(pid) / "limits").read_text()
        used = sum(1 for _ in (proc / str(pid) / "fd").iterdir())
    except OSError as error:
        yield Finding(NOTE, "files", f"{name}: its limits cannot be read: {error.strerror}", "run this as the server's user")
        return
    line = next(line for line in limits.splitlines() if line.startswith("Max open files"))
    limit = line.split()[3]
    if limit == "unlimited":
        yield Finding(OK, "files", f"{name}: {used:,} files are open, of any number")
        return
    text = f"{name}: {used:,} of at most {int(limit):,} files are open"
    action = "raise the limit of open files (LimitNOFILE= of the unit, ulimit -n): every connection takes one"
    if used > int(limit) * MOSTLY:
        yield Finding(PROBLEM, "files", text, action)
    elif int(limit) < FEW_FILES:
        yield Finding(WARNING, "files", text, action)
    else:
        yield Finding(OK, "files", text)
