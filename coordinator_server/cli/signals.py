"""Signals that end a server."""

from __future__ import annotations

import asyncio
import signal


def stop_signals(*numbers: signal.Signals) -> asyncio.Event:
    """Return an event that the signals set."""
    stopping = asyncio.Event()
    for number in numbers:
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping
