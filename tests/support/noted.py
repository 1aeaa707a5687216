"""A list that a test waits for: whatever grows it wakes the test, from any thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import structlog
from structlog.testing import LogCapture, capture_logs

MOST_S = 60.0


class Noted(list[Any]):
    """``append`` wakes who is in ``until``."""

    def __init__(self) -> None:
        super().__init__()
        self._wake: Callable[[], object] = lambda: None

    def append(self, item: Any, /) -> None:
        super().append(item)
        self._wake()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return when a condition on this list holds. Raises TimeoutError."""
        loop, grown = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(grown.set)
        try:
            async with asyncio.timeout(MOST_S):
                while not condition():
                    await grown.wait()
                    grown.clear()
        finally:
            self._wake = lambda: None


@contextmanager
def noted_logs(patch: pytest.MonkeyPatch) -> Iterator[Noted]:
    """Capture the lines of the log."""
    noted = Noted()

    class Capture(LogCapture):
        def __init__(self) -> None:
            super().__init__()
            self.entries = noted

    patch.setattr(structlog.testing, "LogCapture", Capture)
    with capture_logs():
        yield noted
