"""A client's process: an event loop of its own on simulated time, and connections through the simulated network.

It can be stopped and continued (SIGSTOP), killed, and cut off. Its clocks differ from those of the server by what ``Clocks`` says.
"""

from __future__ import annotations

import asyncio
import ssl
import traceback
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, Final, NamedTuple, TypeVar

from coordinator_server.client.environment import Environment
from coordinator_server.client.settings import Address
from tests.simulation.loop import SimulatedLoop
from tests.simulation.machine import FIRST_WALL_MS
from tests.simulation.network import ClientSocket, Network
from tests.simulation.world import Event, World

T = TypeVar("T")
TURN_US: Final = 20
UNWINDING_ROUNDS: Final = 50


class Clocks(NamedTuple):
    """How a program's clocks differ from the server's: seconds per second, and milliseconds of the time of day."""

    speed: float
    ahead_ms: int


class ProgramLoop(SimulatedLoop):
    """A loop whose program hears of what nobody takes."""

    def __init__(self, program: Program) -> None:
        super().__init__(lambda: program.world.now_us, program.wake, is_timers_first=False)
        self._program = program

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self._program.complain(f"an exception was not taken: {context.get('message')} {context.get('exception')!r}")


class Program:
    """One run of a client, from its start to its end. ``main`` runs in its loop; ``broken`` hears of what never should happen."""

    def __init__(self, world: World, name: str, clocks: Clocks, broken: Callable[[str], None]) -> None:
        self.world = world
        self.name = name
        self.is_alive = True
        self.network_at: Callable[[Address], Network | None] = lambda _address: None
        self.transports: list[ProgramTransport] = []
        self._clocks = clocks
        self._broken = broken
        self._free_us = self._paused_until_us = 0
        self._next: Event | None = None
        self._next_us = 0
        self._is_in_turn = False
        self._main: asyncio.Task[None] | None = None
        self.loop = ProgramLoop(self)  # type: ignore[abstract]
        rng = Random(f"{name} {world.rng.random()}")
        self.environment = Environment(self.now_s, self._wall_ms, rng.random, self._connect)

    @property
    def is_over(self) -> bool:
        """Whether ``main`` has returned, or the program was killed."""
        return not self.is_alive or (self._main is not None and self._main.done())

    def now_s(self) -> float:
        """Return its steady clock."""
        return 1000 + self._clocks.speed * self.world.now_us / 1e6

    def start(self, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a coroutine in its loop."""

        def begin() -> None:
            self._main = self.loop.create_task(main())

        self.loop.call_soon(begin)

    def soon(self, action: Callable[[], None]) -> None:
        """Let its loop do something."""
        if self.is_alive:
            self.loop.call_soon(action)

    def pause(self, duration_us: int) -> None:
        """SIGSTOP, and SIGCONT after a while; at once if it is 0."""
        until_us = self.world.now_us + duration_us
        self._paused_until_us = max(self._paused_until_us, until_us) if duration_us else until_us
        self._schedule()

    def cut(self) -> None:
        """Every connection breaks."""
        for transport in list(self.transports):
            transport.socket.cut()

    def kill(self, *, is_silent: bool = False) -> None:
        """SIGKILL; or the power of its machine fails, which tells nobody."""
        if not self.is_alive:
            return
        self.is_alive = False
        self.loop.is_over = True
        if self._next is not None:
            self._next.cancel()
        for transport in list(self.transports):
            transport.end(is_silent=is_silent)
        self._unwind()

    def complain(self, what: str) -> None:
        """Note what never should happen, unless it happens to what a killed program leaves."""
        if self.is_alive:
            self._broken(f"{self.name}: {what}")

    def wake(self) -> None:
        """There is something to do."""
        if not self._is_in_turn and self.is_alive:
            self._schedule()

    def _unwind(self) -> None:
        """End the coroutines of a dead program now: the garbage collector would do it at a moment of its own."""
        for _ in range(UNWINDING_ROUNDS):
            left = list(self.loop.tasks)
            if not left:
                return
            for task in left:
                task.cancel()
            self._run_turn()

    def _schedule(self) -> None:
        due = self.loop.next_due() if self.loop.is_idle else self.world.now_us
        if due is None or not self.is_alive:
            return
        when = max(due, self._free_us, self._paused_until_us)
        if self._next is not None:
            if self._next_us == when:
                return
            self._next.cancel()
        self._next_us = when
        self._next = self.world.at(when, self._turn)

    def _turn(self) -> None:
        self._next = None
        self._run_turn()
        self._free_us = self.world.now_us + TURN_US
        self._schedule()

    def _run_turn(self) -> None:
        self._is_in_turn = True
        try:
            self.loop.turn()
        except Exception:  # noqa: BLE001 - whatever it is, it is for the report
            self.complain(f"a callback failed: {traceback.format_exc()}")
        finally:
            self._is_in_turn = False

    def _wall_ms(self) -> int:
        return FIRST_WALL_MS + self._clocks.ahead_ms + self.world.now_us // 1000

    async def _connect(
        self, factory: Callable[[], asyncio.BaseProtocol], address: Address, _tls: ssl.SSLContext | None
    ) -> asyncio.BaseTransport:
        network = self.network_at(address)
        if network is None or not self.is_alive:
            raise ConnectionRefusedError(f"{address} refuses")
        transport = ProgramTransport(self, network)
        try:
            await asyncio.sleep(2 * network.delay() / 1e6)
            if transport.is_lost:
                raise ConnectionRefusedError(f"{address} refuses")
        except BaseException:
            transport.end(is_silent=False)
            raise
        transport.open(factory())
        return transport


class ProgramTransport(asyncio.Transport):
    """A program's end of a connection. What arrives waits until the program's loop reads it."""

    def __init__(self, program: Program, network: Network) -> None:
        super().__init__()
        self.is_lost = False
        self._program = program
        self._protocol: asyncio.Protocol | None = None
        self._arrived = bytearray()
        self._is_closing = False
        self.socket = ClientSocket(network, self._take, self._lose)
        program.transports.append(self)

    def open(self, protocol: asyncio.BaseProtocol) -> None:
        """The connection is made."""
        assert isinstance(protocol, asyncio.Protocol)
        self._protocol = protocol
        protocol.connection_made(self)
        self._look()

    def end(self, *, is_silent: bool) -> None:
        """Close the socket; the server reads the end of it, unless it is silent."""
        self._is_closing = True
        if self in self._program.transports:
            self._program.transports.remove(self)
        self.socket.vanish() if is_silent else self.socket.close()

    def _take(self, data: bytes) -> None:
        self._arrived += data
        self._look()

    def _lose(self) -> None:
        self.is_lost = True
        self._look()

    def _look(self) -> None:
        if self._protocol is not None and not self._is_closing and (self._arrived or self.is_lost):
            self._program.loop.read_soon(self._read)

    def _read(self) -> None:
        assert self._protocol is not None
        data, self._arrived = bytes(self._arrived), bytearray()
        if data and not self._is_closing:
            self._protocol.data_received(data)
        if self.is_lost and not self._is_closing:
            self.end(is_silent=False)
            self._protocol.connection_lost(ConnectionResetError("reset"))

    # What the client calls.

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.socket.send(bytes(data))

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if not self._is_closing:
            self.end(is_silent=False)
            if self._protocol is not None:
                self._program.loop.call_soon(self._protocol.connection_lost, None)
