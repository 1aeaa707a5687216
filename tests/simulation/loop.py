"""An asyncio event loop that is run turn by turn, on time that somebody else has.

It has what the server uses of a loop: callbacks, timers, futures, tasks, and a listening socket in memory. A turn does what one
of a real loop does, in the order of asyncio (read, timers, callbacks) or of uvloop (timers, callbacks, read).
What a callback raises ends the turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import socket
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextvars import Context, copy_context
from typing import Any, TypeVar

from coordinator_server.server.wire.acceptor import AcceptPolicy
from coordinator_server.server.wire.incidents import Incidents

T = TypeVar("T")


class Callback(asyncio.TimerHandle):
    """A callback, due at once or later. It does not know where it was made, which takes most of the time of making one."""

    __slots__ = ()

    def __init__(self, when: float, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None) -> None:
        # What a TimerHandle keeps, without its loop.
        self._when, self._callback, self._args = when, callback, args
        self._context = copy_context() if context is None else context
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True
        self._callback = self._args = None  # type: ignore[assignment]

    def run(self) -> None:
        if not self._cancelled:
            self._context.run(self._callback, *self._args)


class SimulatedLoop(asyncio.AbstractEventLoop):
    """``wake`` is called when there is something to do that was not there before; ``next_due`` says when there is otherwise."""

    def __init__(self, now_us: Callable[[], int], wake: Callable[[], None], *, is_timers_first: bool) -> None:
        self._now_us = now_us
        self._wake = wake
        self._is_timers_first = is_timers_first
        self._ready: deque[Callback] = deque()
        self._timers: list[tuple[float, int, Callback]] = []
        self._count = 0
        self._readable: dict[Callable[[], None], None] = {}
        self.servers: list[SimulatedServer] = []
        self.is_over = False
        self._tasks: list[asyncio.Task[Any]] = []

    # What is run from outside.

    @property
    def is_idle(self) -> bool:
        return not self._ready and not self._readable

    def next_due(self) -> int | None:
        """When the next timer is due, microseconds."""
        timers = self._timers
        while timers and timers[0][2]._cancelled:
            heapq.heappop(timers)
        return -int(-timers[0][0] * 1e6 // 1) if timers else None

    def turn(self) -> None:
        """One turn."""
        asyncio._set_running_loop(self)
        try:
            if self._is_timers_first:
                for callback in self._take_due():
                    callback.run()
                self._run_ready()
                for read in self._take_readable():
                    read()
            else:
                for read in self._take_readable():
                    self.call_soon(read)
                self._ready += self._take_due()
                self._run_ready()
        finally:
            asyncio._set_running_loop(None)

    @property
    def tasks(self) -> list[asyncio.Task[Any]]:
        """The tasks that have not ended, in the order in which they began."""
        self._tasks = [each for each in self._tasks if not each.done()]
        return self._tasks

    def unwind(self) -> None:
        """End the tasks that are left when it is over: the garbage collector would, in the middle of a later play."""
        for task in self.tasks:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            # What they do at their end is nobody's.
            with contextlib.suppress(BaseException):
                task.get_coro().close()

    def read_soon(self, read: Callable[[], None]) -> None:
        """Something can be read."""
        self._readable[read] = None
        self._wake()

    def _take_readable(self) -> Iterable[Callable[[], None]]:
        if not self._readable:
            return ()
        reads, self._readable = self._readable, {}
        return reads

    def _take_due(self) -> Iterable[Callback]:
        timers, now = self._timers, self._now_us() / 1e6 + 1e-9
        if not timers or timers[0][0] > now:
            return ()
        due: list[Callback] = []
        while timers and timers[0][0] <= now:
            due.append(heapq.heappop(timers)[2])
        return due

    def _run_ready(self) -> None:
        """Run what is ready now, and not what becomes it meanwhile."""
        ready = self._ready
        for _ in range(len(ready)):
            callback = ready.popleft()
            if not callback._cancelled:
                callback._context.run(callback._callback, *callback._args)

    # What asyncio and the server call.

    def time(self) -> float:
        return self._now_us() / 1e6

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> Callback:  # type: ignore[override]
        handle = Callback(0.0, callback, args, context)
        self._ready.append(handle)
        self._wake()
        return handle

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Callback:
        return self.call_soon(callback, *args, context=context)

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Callback:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Callback:
        handle = Callback(when, callback, args, context)
        self._count += 1
        heapq.heappush(self._timers, (when, self._count, handle))
        self._wake()
        return handle

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, T], **options: Any) -> asyncio.Task[T]:  # type: ignore[override]
        task = asyncio.Task(coro, loop=self, **options)
        self.tasks.append(task)
        return task

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        # What is left of a process that was killed is nobody's.
        if not self.is_over:
            raise AssertionError(f"nobody took an exception: {context}") from context.get("exception")


class SimulatedServer:
    """A listening socket, as an ``Acceptor``. Who connects before ``start`` waits."""

    def __init__(self, loop: SimulatedLoop, policy: AcceptPolicy, _incidents: Incidents) -> None:
        self._loop = loop
        self._policy = policy
        self._backlog: list[Callable[[asyncio.BaseProtocol], None]] = []
        self._is_serving = False
        self.is_open = True

    async def bind(self, host: str, port: int) -> tuple[str, int]:
        self._loop.servers.append(self)
        return host, port

    async def adopt(self, _sockets: Sequence[socket.socket]) -> tuple[str, int]:
        return await self.bind("127.0.0.1", 9092)

    async def start(self) -> None:
        self._is_serving = True
        if self._backlog:
            self._loop.read_soon(self._accept)

    def close(self) -> None:
        self.is_open = False

    def connect(self, accepted: Callable[[asyncio.BaseProtocol], None]) -> None:
        """Somebody connects; ``accepted`` gets the protocol when the server takes the connection."""
        self._backlog.append(accepted)
        if self._is_serving:
            self._loop.read_soon(self._accept)

    def _accept(self) -> None:
        while self._backlog and self.is_open:
            protocol = self._policy.admit("192.0.2.1")
            assert protocol is not None, "the simulation has few connections"
            self._backlog.pop(0)(protocol)
