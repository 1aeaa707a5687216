"""Signals of a server: those that end it, and SIGHUP."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable


def stop_signals(*numbers: signal.Signals) -> asyncio.Event:
    """Return an event that the signals set."""
    stopping = asyncio.Event()
    for number in numbers:
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


def on_hangup(reload: Callable[[], None], stopping: asyncio.Event) -> None:
    """Reload on SIGHUP. A server that has lost the terminal that it was started in stops instead."""
    has_terminal = _is_terminal()

    def hung_up() -> None:
        if has_terminal and not _is_terminal():
            stopping.set()
        else:
            reload()

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, hung_up)


def _is_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and os.isatty(sys.stdin.fileno())
