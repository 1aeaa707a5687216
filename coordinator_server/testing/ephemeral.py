"""A whole server for tests: one loop, a log that ends with it, a clock that can be set forward, and faults."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Final

from msgspec import structs

from coordinator_server.config import Config
from coordinator_server.config.listeners import listener_specs
from coordinator_server.log.memory import MemoryStorage
from coordinator_server.log.storage import Storage
from coordinator_server.server.cluster.view import Endpoint
from coordinator_server.server.composition import Fatal, Rooms
from coordinator_server.server.daemon import Daemon
from coordinator_server.server.environment import Environment
from coordinator_server.testing.clock import ShiftedClock
from coordinator_server.testing.faults import Faults
from coordinator_server.testing.ports import reserve_port
from coordinator_server.testing.unsynced import UnsyncedStorage

STEPS: Final = 500
"""The most steps in which time is advanced, if timers are due all the time."""
TURNS_PER_STEP: Final = 4
TURNS_AT_THE_END: Final = 20
_IN_MEMORY: Final = Path("/log")


class EphemeralServer:
    """Call all methods on one event loop. Without a ``data_dir`` the log is in memory.

    ``fatal`` is called when the log cannot be trusted. ``ahead_ms`` is how far the clock is ahead of real time.
    """

    def __init__(self, config: Config, fatal: Fatal, data_dir: Path | None = None, ahead_ms: int = 0) -> None:
        storage: Storage = MemoryStorage() if data_dir is None else UnsyncedStorage()
        self.clock = ShiftedClock(ahead_ms)
        self.faults = Faults()
        self.endpoint = Endpoint("", 0)
        self._config = config
        self._data_dir = data_dir or _IN_MEMORY
        self._fatal = fatal
        self._environment = Environment(clock=self.clock, storage=storage, alter_apis=self.faults.alter, has_tools=False)
        self._reserved: list[socket.socket] = []
        self._daemon: Daemon | None = None

    @property
    def rooms(self) -> Rooms:
        """The rooms of the server, which ``restart`` replaces."""
        assert self._daemon is not None, "the server is not started"
        return self._daemon.rooms

    @property
    def cluster_id(self) -> str:
        """The cluster id, which stays the same."""
        assert self._daemon is not None, "the server is not started"
        return self._daemon.cluster_id

    async def start(self, host: str, port: int) -> None:
        """Start to serve; all shards are loaded then. Port 0 selects a free port. Raises StartError and LogError."""
        if not self._reserved:
            port = self._reserve(host, port)
        self._daemon = daemon = Daemon(self._config, self._data_dir, self._fatal, None, self._environment)
        self.endpoint = await daemon.open(host, port)
        self.faults.timers = daemon.rooms.hosting.node.delays
        await daemon.finish_loading()

    def _reserve(self, host: str, port: int) -> int:
        """Reserve the ports of all listeners, so that they stay the same. Return that of the first one."""
        first, *others = listener_specs(self._config)
        specs = [first._replace(host=host, port=port), *others]
        for place, each in enumerate(specs):
            # If the port is in use, the server says so.
            with contextlib.suppress(OSError):
                self._reserved.append(reserve_port(each.host, each.port))
                specs[place] = each._replace(port=self._reserved[-1].getsockname()[1])
        self._config = structs.replace(self._config, listeners=",".join(map(str, specs)))
        return specs[0].port

    @property
    def listeners(self) -> dict[str, str]:
        """The address at which clients reach each listener, by name: what ``advertised.listeners`` says, else the bound one."""
        assert self._daemon is not None, "the server is not started"
        bound = zip(listener_specs(self._config), self._daemon.endpoints, strict=True)
        return {spec.name: str(Endpoint(*(spec.advertised or address))) for spec, address in bound}

    async def stop(self) -> None:
        """Answer the requests already read, close all connections and the log."""
        if self._daemon is not None:
            await self._daemon.stop()

    def release(self) -> None:
        """Release the port. The server does not start again."""
        for each in self._reserved:
            each.close()

    async def restart(self) -> None:
        """Stop, and start on the same port with the same log. Faults are forgotten."""
        await self.stop()
        self.faults.clear()
        await self.start(*self.endpoint)

    async def advance(self, ms: int) -> None:
        """Let ``ms`` pass at once. Return when everything that is due by then has happened.

        Time goes from one due timer to the next, so what one of them starts may become due, too.
        """
        timers, queue, clock = self.rooms.hosting.timers, self.rooms.services.timers, self.clock
        target, least = clock.ahead_ms + ms, max(1, ms // STEPS)
        while (left := target - clock.ahead_ms) > 0:
            # What clients have sent counts before more time passes.
            await self._settle(TURNS_PER_STEP)
            due = queue.next_due()
            step = left if due is None else min(left, max(due - clock.now_ms(), least))
            clock.ahead_ms += step
            timers.skip(step)
            timers.run_due()
        await self._settle(TURNS_AT_THE_END)

    async def _settle(self, turns: int) -> None:
        """Run the loop until what has happened is durable, and shards have notified each other."""
        for _ in range(turns):
            await asyncio.sleep(0)
        idle = asyncio.Event()
        self.rooms.services.flusher.when_idle(idle.set)
        await idle.wait()
