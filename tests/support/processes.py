"""What the system tells of processes, ours and those below them (proc(5))."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")
# Places in ``stat``.
USER: Final = 11
SYSTEM: Final = 12
_SYSTEM_OF_CHILDREN: Final = 14


def is_alive(pid: int) -> bool:
    """A process that has ended and that nobody has asked after yet is not: it holds nothing."""
    try:
        return stat(Path(f"/proc/{pid}"))[0] not in "ZX"
    except OSError:
        return False


def descendants(pid: int) -> list[int]:
    """All processes below one, nearest first; none below one that is gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found + [each for child in found for each in descendants(child)]


def cpu_s(pid: int, *, with_ended_children: bool = False) -> float:
    """Processor time of a process and its threads so far, in user and system mode, in seconds. Raises OSError when it is gone."""
    last = _SYSTEM_OF_CHILDREN if with_ended_children else SYSTEM
    return sum(map(int, stat(Path(f"/proc/{pid}"))[USER : last + 1])) / TICKS_PER_SECOND


def stat(directory: Path) -> list[str]:
    """The fields of a process's or a thread's directory from its state on. Raises OSError when it is gone."""
    return (directory / "stat").read_text().rpartition(")")[2].split()


def status(pid: int) -> dict[str, str]:
    """What is told line by line: memory (``VmRSS``, ``VmHWM``, ``RssAnon``, … with their unit, kB), switches.

    Raises OSError when it is gone.
    """
    return dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())


def kilobytes(size: str) -> int:
    """Of a size as ``status`` tells it."""
    return int(size.split(maxsplit=1)[0])


def memory_mb(pid: int, which: str = "VmRSS") -> float:
    """What a process takes, resident unless said otherwise, in MB of 1,024 kB. Raises OSError when it is gone."""
    return kilobytes(status(pid)[which]) / 1024
