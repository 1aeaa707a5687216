"""A lock that several tasks may share, or that one has alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class SharedLock:
    """Whoever wants it alone waits for those that share it. Those that come later wait for whoever wants it alone."""

    def __init__(self) -> None:
        self._gate = asyncio.Lock()
        self._sharing = 0
        self._is_unshared = asyncio.Event()
        self._is_unshared.set()

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Have it together with others that share it."""
        async with self._gate:
            self._sharing += 1
            self._is_unshared.clear()
        try:
            yield
        finally:
            self._sharing -= 1
            if self._sharing == 0:
                self._is_unshared.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Have it alone."""
        async with self._gate:
            await self._is_unshared.wait()
            yield
