"""For processes that a server starts."""

from __future__ import annotations

import ctypes
import signal
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


def die_with_parent() -> None:
    """SIGKILL when the thread that started us ends: the log survives that at any moment, and nobody must serve unsupervised."""
    prctl = getattr(ctypes.CDLL(None, use_errno=True), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
