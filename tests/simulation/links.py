"""What the processes of one server have of each other, as events: sockets between loops, and the child that runs a loop's tasks.

Bytes arrive in order, in pieces, some time after they were written, and are read some time after that; those of another
connection may overtake them. What a process wrote before it died arrives all the same, and then the end; what has arrived and was
not read when a connection is closed is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coordinator_server.cli.executor import done_with
from coordinator_server.runtime.executor import Done
from coordinator_server.server.cluster.unix import MakeProtocol
from coordinator_server.server.hosting.executor import Run
from tests.simulation.world import MS, World

if TYPE_CHECKING:
    from tests.simulation.machine import Process

READ_BYTES: Final = 65536


def unheard(_end: End, _data: bytes) -> None:
    """Nobody looks at what is written."""


class Neighbourhood:
    """All sockets in the data directory of one server.

    ``slow_odds``: how often a connection takes up to ``slow_us`` for everything.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.most_us = 2 * MS
        self.slow_us = 2000 * MS
        self.slow_odds = 0.0
        self.piece_odds = 0.1
        # Hears of what is written at an end, before it is under way.
        self.writing: Callable[[End, bytes], None] = unheard
        self.listening: dict[Path, tuple[Process, MakeProtocol]] = {}
        self.ends: list[End] = []

    def hurry(self) -> None:
        """No connection is slow any more."""
        self.slow_odds = 0.0
        for end in self.ends:
            end.most_us = self.most_us

    def hold(self, process: Process) -> list[End]:
        """Let nothing arrive that a process says from now on, on the links that it has: its ends of them, to be released."""
        held = [end for end in self.ends if end.process is process]
        for end in held:
            end.hold()
        return held

    def lose(self, process: Process) -> None:
        """A process is gone: the kernel closes what it had."""
        for path in [path for path, (listener, _) in self.listening.items() if listener is process]:
            del self.listening[path]
        for end in [end for end in self.ends if end.process is process]:
            end.die()


class LoopSockets:
    """Those of one process."""

    def __init__(self, neighbourhood: Neighbourhood, process: Process) -> None:
        self._neighbourhood = neighbourhood
        self._process = process

    async def listen(self, path: Path, protocol: MakeProtocol, /) -> LoopListening:
        self._neighbourhood.listening[path] = (self._process, protocol)
        return LoopListening(self._neighbourhood, path)

    async def connect(self, path: Path, protocol: MakeProtocol, /) -> None:
        neighbourhood, process = self._neighbourhood, self._process
        found = neighbourhood.listening.get(path)
        if found is None:
            raise ConnectionRefusedError(f"nobody listens on {path.name}")
        world = neighbourhood.world
        most_us = neighbourhood.slow_us if world.rng.random() < neighbourhood.slow_odds else neighbourhood.most_us
        here, there = End(neighbourhood, process, most_us), End(neighbourhood, found[0], most_us)
        here.other, there.other = there, here
        here.take(protocol)
        there.accept(found[1])


class LoopListening:
    """A socket in the directory."""

    def __init__(self, neighbourhood: Neighbourhood, path: Path) -> None:
        self._neighbourhood = neighbourhood
        self._path = path

    def close(self) -> None:
        self._neighbourhood.listening.pop(self._path, None)


class End(asyncio.Transport):
    """One end of a connection, in one process."""

    def __init__(self, neighbourhood: Neighbourhood, process: Process, most_us: int) -> None:
        super().__init__()
        self.process = process
        self.other: End
        self._neighbourhood = neighbourhood
        self.most_us = most_us
        self._protocol: Any = None
        self._arrived = bytearray()
        self._has_ended = False
        self._is_open = True
        self._free_us = 0
        # How often it is held. What arrives afterwards: when it would have arrived, what was written, and what happens then.
        self._holds = 0
        self._held: list[tuple[int, bytes, Callable[[], None]]] = []
        neighbourhood.ends.append(self)

    def take(self, protocol: MakeProtocol) -> None:
        """The process has the connection."""
        if self._is_open:
            self._protocol = protocol()
            self._protocol.connection_made(self)
            self._look()

    def accept(self, protocol: MakeProtocol) -> None:
        """It waits in the listening socket's queue until the process turns to it."""
        self._neighbourhood.world.after(
            self._delay(), lambda: self.process.in_thread(0, lambda: self.process.loop.read_soon(lambda: self.take(protocol)))
        )

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_open:
            self._neighbourhood.writing(self, bytes(data))
            self._send(bytes(data))

    def abort(self) -> None:
        """Hang up: the other end reads what was written, and then the end."""
        if self._is_open:
            self._close()
            self.process.loop.call_soon(self._protocol.connection_lost, None)

    def close(self) -> None:
        self.abort()

    def is_closing(self) -> bool:
        return not self._is_open

    def hold(self) -> None:
        """Let nothing that is written from now on arrive before ``release``."""
        self._holds += 1

    @property
    def held(self) -> bytes:
        """What was written since then."""
        return b"".join(data for _, data, _ in self._held)

    def release(self) -> None:
        """Let it arrive, unless somebody else holds it, too."""
        self._holds -= 1
        if not self._holds:
            held, self._held = self._held, []
            for due_us, _, action in held:
                self._neighbourhood.world.at(due_us, action)

    def die(self) -> None:
        """The process is gone."""
        if self._is_open:
            self._close()

    def _close(self) -> None:
        self._is_open = False
        self._arrived.clear()
        self._neighbourhood.ends.remove(self)
        self._then(self.other._end)

    def _send(self, data: bytes) -> None:
        rng = self._neighbourhood.world.rng
        while len(data) > 1 and rng.random() < self._neighbourhood.piece_odds:
            cut = rng.randint(1, len(data) - 1)
            self._then(lambda piece=data[:cut]: self.other._arrive(piece), data[:cut])  # type: ignore[misc]
            data = data[cut:]
        self._then(lambda: self.other._arrive(data), data)

    def _then(self, action: Callable[[], None], data: bytes = b"") -> None:
        """After all that was sent before."""
        world = self._neighbourhood.world
        self._free_us = max(self._free_us, world.now_us + self._delay())
        if self._holds:
            self._held.append((self._free_us, data, action))
        else:
            world.at(self._free_us, action)

    def _delay(self) -> int:
        return self._neighbourhood.world.between(1, self.most_us)

    def _arrive(self, data: bytes) -> None:
        if self._is_open:
            self._arrived += data
            self._look()

    def _end(self) -> None:
        if self._is_open:
            self._has_ended = True
            self._look()

    def _look(self) -> None:
        if self._protocol is not None and self._is_open and (self._arrived or self._has_ended):
            self.process.in_thread(0, lambda: self.process.loop.read_soon(self._read))

    def _read(self) -> None:
        if not self._is_open:
            return
        if self._arrived:
            data = bytes(self._arrived[:READ_BYTES])
            del self._arrived[: len(data)]
            self._protocol.data_received(data)
            self._look()
        elif self._has_ended:
            self._close()
            self._protocol.connection_lost(None)


class Child:
    """A process that runs tasks: it takes a while for each, or dies of it."""

    def __init__(self, process: Process, death_odds: float, done: Callable[[Done], None], lost: Callable[[], None]) -> None:
        self._process = process
        self._death_odds = death_odds
        self._done = done
        self._lost = lost
        self._is_alive = True

    def run(self, task: str, argument: bytes, /) -> None:
        world = self._process.world
        if world.rng.random() < self._death_odds:
            self._later(self._die)
        else:
            done = done_with(Run(task, argument))
            self._later(lambda: self._done(done))

    def kill(self) -> None:
        self._is_alive = False

    def _die(self) -> None:
        self._is_alive = False
        self._lost()

    def _later(self, action: Callable[[], None]) -> None:
        def hear() -> None:
            if self._is_alive:
                self._process.loop.call_soon(action)

        self._process.in_thread(self._process.world.between(MS, 300 * MS), hear)
