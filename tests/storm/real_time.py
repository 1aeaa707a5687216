"""Members of the simulation against a real server: the same scripts, with the time of the event loop, over TCP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from random import Random

from tests.simulation.network import ClientSocket, Network
from tests.simulation.world import Action, Event, World


class RealTime(World):
    """Microseconds since the beginning, of the machine's steady clock. What is to happen happens in the running event loop."""

    def __init__(self, rng: Random) -> None:
        self._began = time.monotonic()
        super().__init__(rng)

    @property
    def now_us(self) -> int:
        return int((time.monotonic() - self._began) * 1e6)

    @now_us.setter
    def now_us(self, _us: int) -> None:
        """Time passes by itself."""

    def at(self, when_us: int, action: Action) -> Event:
        event = Event((when_us, 0, action))
        asyncio.get_running_loop().call_later(max(when_us - self.now_us, 0) / 1e6, _run, event)
        return event


def _run(event: Event) -> None:
    if event.action is not None:
        event.action()


class Tcp(Network):
    """Connections to wherever ``address`` says when one is opened."""

    def __init__(self, world: World, address: Callable[[], Awaitable[tuple[str, int]]]) -> None:
        super().__init__(world)
        self.address = address

    def connect(self, received: Callable[[bytes], None], lost: Callable[[], None]) -> ClientSocket:
        return TcpSocket(self, received, lost)


class TcpSocket(ClientSocket):
    """A client's end. What is sent before there is a connection waits for it."""

    # A real server reads what it has at once.
    may_be_read = False

    def __init__(self, network: Tcp, received: Callable[[bytes], None], lost: Callable[[], None]) -> None:
        self._network: Tcp = network
        self._received = received
        self._lost = lost
        self.is_closed = self.is_stalled = False
        self._transport: asyncio.Transport | None = None
        self._unsent = bytearray()
        self.port = network.add(self)
        # The event loop keeps no reference.
        self._opening = asyncio.ensure_future(self._open())

    def send(self, data: bytes) -> None:
        if self.is_closed:
            return
        if self._transport is None:
            self._unsent += data
        else:
            self._transport.write(data)

    def close(self) -> None:
        if not self.is_closed:
            self._forget()
            if self._transport is not None:
                self._transport.close()

    def vanish(self) -> None:
        self._forget()
        if self._transport is not None:
            self._transport.abort()

    def cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()
        self._lose()

    def stall(self) -> None:
        self.is_stalled = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self) -> None:
        self.is_stalled = False
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def end(self) -> None:
        """The server has closed the connection."""
        self._lose()

    async def _open(self) -> None:
        try:
            address = await self._network.address()
            transport, _ = await asyncio.get_running_loop().create_connection(lambda: _Reader(self), *address)
        except (OSError, EOFError):
            self._lose()
            return
        self._transport = transport
        transport.write(bytes(self._unsent))
        if self.is_closed:
            transport.close()


class _Reader(asyncio.Protocol):
    def __init__(self, socket: TcpSocket) -> None:
        self._socket = socket

    def data_received(self, data: bytes) -> None:
        self._socket.take(data)

    def connection_lost(self, _why: Exception | None) -> None:
        self._socket.end()
