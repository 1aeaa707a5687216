"""Who waits for whom at a lock that is shared or had alone."""

from __future__ import annotations

import asyncio

import pytest

from coordinator_server.server.supervisor.shared_lock import SharedLock


class Tasks:
    """Tasks that take the lock, and end when a test says so. ``inside`` has those that have it."""

    def __init__(self) -> None:
        self.lock = SharedLock()
        self.inside: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self, name: str, *, alone: bool = False) -> None:
        self._ends[name] = asyncio.Event()
        self._tasks.append(asyncio.get_running_loop().create_task(self._run(name, alone)))
        await self.settle()

    async def _run(self, name: str, alone: bool) -> None:
        async with self.lock.alone() if alone else self.lock.shared():
            self.inside.append(name)
            await self._ends[name].wait()
            self.inside.remove(name)

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self.settle()

    async def cancel(self, place: int) -> None:
        self._tasks[place].cancel()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)


@pytest.fixture
async def tasks() -> Tasks:
    return Tasks()


async def test_several_share_it(tasks: Tasks) -> None:
    await tasks.begin("a")
    await tasks.begin("b")

    assert tasks.inside == ["a", "b"]


async def test_whoever_wants_it_alone_waits_for_all_that_share_it(tasks: Tasks) -> None:
    """Those that come later wait, or it would wait for ever."""
    await tasks.begin("a")
    await tasks.begin("b")
    await tasks.begin("move", alone=True)
    await tasks.begin("late")
    await tasks.end("a")
    assert tasks.inside == ["b"]
    await tasks.end("b")
    assert tasks.inside == ["move"]
    await tasks.end("move")

    assert tasks.inside == ["late"]


async def test_a_wait_that_is_cancelled_blocks_nobody(tasks: Tasks) -> None:
    """Neither those that share it nor those that want it alone."""
    await tasks.begin("a")
    await tasks.begin("move", alone=True)
    await tasks.begin("b")
    await tasks.cancel(1)
    assert tasks.inside == ["a", "b"]
    await tasks.cancel(0)
    await tasks.end("b")
    await tasks.begin("other", alone=True)

    assert tasks.inside[-1:] == ["other"]
