"""Tie a child process to the process that started it, and take what it was given."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Final, NamedTuple

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


class HttpChild(NamedTuple):
    """What a process that answers HTTP requests is given (``server/http_process.py``): a socket that listens, and a directory."""

    listening: socket.socket
    data_dir: Path


def http_child() -> HttpChild | None:
    """Begin as the process of ``python -m coordinator_server.cli.child NAME FD PID DATA_DIR``, which ends with PID.

    Return None if that process has ended already.
    """
    die_with_parent()
    channel, parent, data_dir = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    if os.getppid() != parent:
        # The parent ended before die_with_parent took effect.
        return None
    # The parent handles ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return HttpChild(socket.socket(fileno=channel), data_dir)


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends.

    The log survives a kill at any moment, and no loop may serve without its supervisor.
    """
    prctl = getattr(ctypes.CDLL(None, use_errno=True), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
