"""Numbers of processes and of the disk, which no loop has to find out."""

from __future__ import annotations

import math
import os
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
JOURNAL: Final = "journal"


class ProcessNumbers(NamedTuple):
    """Processor time, resident memory, open files and their limit."""

    cpu_s: float
    memory_bytes: int
    open_files: int
    # Infinite without a limit.
    max_files: float


def process_numbers(pid: int) -> ProcessNumbers | None:
    """Return the numbers of a process, or None if it has ended."""
    directory = Path(f"/proc/{pid}")
    try:
        # The name of the program, in parentheses, may have spaces.
        fields = (directory / "stat").read_text().rpartition(")")[2].split()
        limits = (directory / "limits").read_text()
        return ProcessNumbers(
            (int(fields[11]) + int(fields[12])) / _TICKS,
            int(fields[21]) * _PAGE,
            len(os.listdir(directory / "fd")),  # noqa: PTH208 - names are enough
            open_files_limit(limits),
        )
    except OSError:
        return None


def open_files_limit(limits: str) -> float:
    """Return the limit of open files that a process has now, from its /proc/PID/limits."""
    [line] = [each for each in limits.splitlines() if each.startswith("Max open files")]
    limit = line.split()[3]
    return math.inf if limit == "unlimited" else int(limit)


def log_bytes(data_dir: Path) -> dict[str, int]:
    """Return the bytes that files take on disk, by internal topic; JOURNAL has all others."""
    sizes: Counter[str] = Counter()
    for directory, _, files in os.walk(data_dir):
        top = Path(directory).relative_to(data_dir).parts[:1]
        topic, dash, partition = (top[0] if top else "").rpartition("-")
        name = topic if dash and partition.isdecimal() else JOURNAL
        for file in files:
            try:
                sizes[name] += os.stat(os.path.join(directory, file)).st_blocks * 512  # noqa: PTH116, PTH118 - there may be many
            except OSError:
                continue  # It was removed meanwhile.
    return dict(sizes)


def disk_room(data_dir: Path) -> tuple[int, int] | None:
    """Return the bytes that the server may still write to the disk of a directory, and the size of that disk."""
    try:
        found = os.statvfs(data_dir)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize
