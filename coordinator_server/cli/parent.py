"""Tie a child process to the process that started it."""

from __future__ import annotations

import ctypes
import signal
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends.

    The log survives a kill at any moment, and no loop may serve without its supervisor.
    """
    prctl = getattr(ctypes.CDLL(None, use_errno=True), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
