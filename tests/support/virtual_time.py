"""An event loop whose time is virtual: when there is nothing to do it goes on to the next timer at once, and sleeps never.

For code that has no sockets, threads or child processes; tests of minutes take milliseconds, and are the same each time.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _NoWait(selectors.DefaultSelector):
    """Instead of waiting for a time, it lets that time pass."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if events or timeout == 0:
            return events
        assert timeout is not None, "everything waits, and nothing will happen"
        self.now_s += timeout
        return events


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Run coroutines in virtual time, which begins at 0."""

    def __init__(self) -> None:
        self._virtual = _NoWait()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now_s


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main``, like asyncio.run. Fails if it leaves a task behind."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(_leaving_no_task(main))


async def _leaving_no_task(main: Coroutine[Any, Any, T]) -> T:
    result = await main
    await asyncio.sleep(0)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"tasks are left: {left}"
    return result
