"""A loop whose turns a test runs by hand: what connections share, without sockets or threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from coordinator_server.server.wire.background import Background
from coordinator_server.server.wire.connection import Connection, Dispatch, Limits
from coordinator_server.server.wire.turns import Turns
from tests.support.transport import MemoryTransport

LIMITS = Limits(1 << 20, 1000)


class ManualLoop:
    """Its ready callbacks, the connections to write, and the jobs of its thread."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []
        self.to_write: list[Connection] = []
        self.closed: list[Connection] = []
        self.jobs: deque[Callable[[], None]] = deque()
        self.turns = Turns(self.soon.append)
        # The processor time of the thread so far.
        self.thread_ns = 0
        self.background = Background(self, self.soon.append, lambda: self.thread_ns)

    def run(self, job: Callable[[], None], /, *, delay: float = 0.0) -> None:
        """As a worker: keep the job for ``work``."""
        self.jobs.append(job)

    def close(self) -> None:
        """Drop the jobs."""
        self.jobs.clear()

    def connect(self, dispatch: Dispatch, limits: Limits = LIMITS) -> tuple[Connection, MemoryTransport]:
        """A new connection, and its transport."""
        transport = MemoryTransport()
        made = Connection(dispatch, self.to_write.append, self.closed.append, limits, self.turns, self.background)
        made.connection_made(transport)
        return made, transport

    def turn(self) -> None:
        """Run what is ready, and write the answers that became ready."""
        soon, self.soon[:] = list(self.soon), []
        for call in soon:
            call()
        to_write, self.to_write[:] = list(dict.fromkeys(self.to_write)), []
        for connection in to_write:
            connection.write()

    def work(self) -> None:
        """Run the jobs of the thread, and the turns that follow, until nothing is left."""
        while self.jobs or self.soon or self.to_write:
            if self.jobs:
                self.jobs.popleft()()
            self.turn()
