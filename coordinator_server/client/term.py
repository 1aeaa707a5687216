"""A term of leadership: its fencing token, and how long it surely lasts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from coordinator_server.client.errors import MembershipLost


class Term:
    """The time in which this candidate leads.

    ``token`` is higher than that of every earlier term. Send it with each write to a store that refuses lower tokens than it has
    seen: then a leader that was frozen cannot overwrite what its successor wrote.

        async with term:            # the body is cancelled when the term is over, and the block ends without an error
            await work(term.token)
    """

    def __init__(
        self,
        token: int,
        saved: str,
        surely_until_s: Callable[[], float],
        now_s: Callable[[], float],
        save: Callable[[str], Awaitable[None]],
    ) -> None:
        self.token = token
        self.saved = saved
        """What the last leader that saved something has saved."""
        self._surely_until_s = surely_until_s
        self._now_s = now_s
        self._save = save
        self._over = asyncio.Event()
        # The tasks in ``async with`` blocks, each with the number of cancellations that it had before.
        self._bodies: dict[asyncio.Task[object], int] = {}
        self._cancelled: set[asyncio.Task[object]] = set()
        self._left = asyncio.Event()

    @property
    def is_current(self) -> bool:
        """Whether this candidate leads, for ``remaining_s`` at least. It looks at the clock: also after a freeze it is right."""
        return not self._over.is_set() and self.remaining_s > 0

    @property
    def remaining_s(self) -> float:
        """For how long no other candidate can lead, as far as the coordinator has acknowledged; 0 if the term is over."""
        return 0.0 if self._over.is_set() else max(0.0, self._surely_until_s() - self._now_s())

    async def save(self, text: str) -> None:
        """Keep a text (some thousand characters) for this leader's successors. Raises MembershipLost if the term is over.

        The coordinator refuses it unless this candidate is a member of the present generation. If the coordinator is silent until
        the term is over, the text may be kept or not.
        """
        if not self.is_current:
            raise MembershipLost(f"the term {self.token} is over")
        await self._save(text)
        self.saved = text

    async def wait_over(self) -> None:
        """Return when the term is over."""
        await self._over.wait()

    def end(self) -> None:
        """End the term: cancel the bodies of its ``async with`` blocks."""
        if not self._over.is_set():
            self._over.set()
            for task in list(self._bodies):
                self._cancel(task)
        if not self._bodies:
            self._left.set()

    async def wait_left(self) -> None:
        """Wait until no ``async with`` block of an ended term runs any more, for as long as the term would have lasted."""
        if asyncio.current_task() in self._bodies:
            return
        try:
            async with asyncio.timeout(max(0.0, self._surely_until_s() - self._now_s())):
                await self._left.wait()
        except TimeoutError:
            return

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None
        self._bodies[task] = task.cancelling()
        if not self.is_current:
            # At its first wait.
            asyncio.get_running_loop().call_soon(self._cancel, task)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        task = asyncio.current_task()
        assert task is not None
        cancellations = self._bodies.pop(task)
        if self._over.is_set() and not self._bodies:
            self._left.set()
        if task not in self._cancelled:
            return False
        self._cancelled.discard(task)
        # As asyncio.timeout does: a cancellation from elsewhere goes on.
        return task.uncancel() <= cancellations and kind is asyncio.CancelledError

    def _cancel(self, task: asyncio.Task[object]) -> None:
        if task in self._bodies and task is not asyncio.current_task():
            self._cancelled.add(task)
            task.cancel()
