"""Ports for servers that come back on the port that they had: nothing else takes one of these while its server is down.

They lie below those that the kernel gives out by itself, to listeners on port 0 and to clients, and each process of a test run
has its own (pytest-xdist). The first is drawn, so that test runs beside each other rarely meet.
"""

from __future__ import annotations

import os
import socket
from itertools import cycle
from random import SystemRandom
from typing import Final

_FIRST: Final = 12_000
_PER_PROCESS: Final = 1_000
# Processes that take a dead one's place have higher numbers than there are slices.
_SLICES: Final = 20


def free_port() -> int:
    """One that nobody has, and that is not given out again for a long time."""
    for port in _ports:
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("without end")


def _slice() -> list[int]:
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = _FIRST + number % _SLICES * _PER_PROCESS
    start = SystemRandom().randrange(_PER_PROCESS)
    return [first + (start + step) % _PER_PROCESS for step in range(_PER_PROCESS)]


_ports = cycle(_slice())
