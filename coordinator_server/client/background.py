"""A member that is kept in its group by a task of its own, and values that others wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from coordinator_server.client.coordinator import Coordinator
from coordinator_server.client.errors import Closed

T = TypeVar("T")


class Latest(Generic[T]):
    """A value that changes. Each reader sees the newest one that it has not seen, and may miss those between."""

    def __init__(self, value: T) -> None:
        self.value = value
        self.version = 0
        self.failure: BaseException | None = None
        self._changed = asyncio.Event()

    def set(self, value: T) -> None:
        """Change the value."""
        self.value = value
        self.version += 1
        self._wake()

    def fail(self, failure: BaseException) -> None:
        """Let all readers fail."""
        if self.failure is None:
            self.failure = failure
        self._wake()

    async def wait(self, condition: Callable[[], bool]) -> T:
        """Return the value when the condition holds. Raises what ``fail`` was given."""
        while not condition():
            if self.failure is not None:
                raise self.failure
            await self._changed.wait()
        return self.value

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class Background:
    """Runs a coroutine beside its owner, from ``start`` to ``stop``. What it raises goes to whoever reads ``latest``."""

    def __init__(self, latest: Latest[Any]) -> None:
        self._latest = latest
        self._task: asyncio.Task[None] | None = None

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start the work."""
        self._task = asyncio.create_task(self._run(work), name=name)

    async def stop(self) -> None:
        """Cancel the work, and wait for its end."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - readers get it
            self._latest.fail(error)


class KeptMember:
    """A member that runs in the background, from the beginning of an ``async with`` to its end.

    ``latest`` is what others read of it.
    """

    def __init__(self, member: Coordinator, latest: Latest[Any]) -> None:
        self._kept = member
        self._read = latest
        self._background = Background(latest)

    async def close(self) -> None:
        """Leave."""
        try:
            await self._background.stop()
            await self._kept.close()
        finally:
            self._read.fail(Closed("it is closed"))

    async def __aenter__(self) -> Self:
        self._background.start(self._kept.run(), f"member of {self._kept.group.group_id}")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
