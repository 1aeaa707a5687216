"""Connections in memory, from a client that is a script to the protocol objects of the server.

Bytes arrive in order, in pieces, some time after they were sent. A connection that is cut loses what is under way, or the end of
it, and either side learns of it when it learns of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from tests.simulation.loop import SimulatedLoop, SimulatedServer
from tests.simulation.world import MS, World

READ_BYTES: Final = 65536
HIGH_WATER: Final = 4096


class Network:
    """How long things take, and how often a message arrives in pieces."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.least_us = 50
        self.most_us = 2 * MS
        self.piece_odds = 0.1
        # The loop of the server's process, while there is one.
        self.loop: SimulatedLoop | None = None
        self.is_apart = False
        self.sockets: list[ClientSocket] = []
        self._ports = 10_000

    def connect(self, received: Callable[[bytes], None], lost: Callable[[], None]) -> ClientSocket:
        """A client opens a connection: its end."""
        return ClientSocket(self, received, lost)

    def add(self, socket: ClientSocket) -> int:
        """A client opens a connection; its port."""
        self._ports += 1
        self.sockets.append(socket)
        return self._ports

    def delay(self) -> int:
        return self.world.between(self.least_us, self.most_us)

    def arrive(self, socket: ClientSocket) -> None:
        """It has reached the server, or nobody."""
        socket.has_arrived = True
        server = self._server()
        if self.is_apart or server is None or self.loop is None:
            socket.lose_after(self.delay())
        else:
            socket.transport = ServerTransport(self, self.loop, socket)
            server.connect(socket.transport.open)

    def _server(self) -> SimulatedServer | None:
        servers = self.loop.servers if self.loop is not None else []
        return next((server for server in servers if server.is_open), None)

    def cut_all(self) -> None:
        """Every connection breaks."""
        for socket in list(self.sockets):
            socket.cut()

    def reset_all(self) -> None:
        """The server's process is gone; its machine says so to everybody."""
        for socket in list(self.sockets):
            if socket.transport is not None:
                socket.transport.is_gone = True
                socket.lose_after(self.delay())


class Pipe:
    """One direction. ``arrived`` gets the pieces, in order."""

    def __init__(self, network: Network, arrived: Callable[[bytes], None]) -> None:
        self._network = network
        self._arrived = arrived
        self._free_us = 0
        self._cut_us: int | None = None

    def send(self, data: bytes) -> None:
        rng = self._network.world.rng
        while data and rng.random() < self._network.piece_odds:
            cut = rng.randint(1, len(data))
            self._send(data[:cut])
            data = data[cut:]
        if data:
            self._send(data)

    def then(self, action: Callable[[], None]) -> None:
        """After all that was sent before."""
        self._free_us = max(self._free_us, self._network.world.now_us + self._network.delay())
        self._network.world.at(self._free_us, action)

    def cut(self, when_us: int) -> None:
        """What would arrive after that moment does not."""
        self._cut_us = when_us

    def _send(self, data: bytes) -> None:
        self.then(lambda: self._deliver(data))

    def _deliver(self, data: bytes) -> None:
        if self._cut_us is None or self._network.world.now_us < self._cut_us:
            self._arrived(data)


class ClientSocket:
    """A client's end. ``received`` gets bytes, ``lost`` is called once when the connection is over."""

    def __init__(self, network: Network, received: Callable[[bytes], None], lost: Callable[[], None]) -> None:
        self._network = network
        self._received = received
        self._lost = lost
        self.transport: ServerTransport | None = None
        self.is_closed = False
        self.is_stalled = False
        self.has_arrived = False
        self._to_server = Pipe(network, self._reach_server)
        self.port = network.add(self)
        self._to_server.then(lambda: network.arrive(self))

    @property
    def may_be_read(self) -> bool:
        """Whether a server may read more of what was sent, or has it and does not know that nobody waits."""
        return not self.has_arrived or (self.transport is not None and not self.transport.is_gone and not self.transport.is_over)

    def send(self, data: bytes) -> None:
        if not self.is_closed:
            self._to_server.send(data)

    def close(self) -> None:
        """No more of this; the server reads the end after what was sent."""
        if not self.is_closed:
            self._forget()
            self._to_server.then(self._end)

    def vanish(self) -> None:
        """The client's machine is gone, without a word."""
        self._forget()

    def cut(self) -> None:
        """The connection breaks somewhere on its way."""
        world, transport = self._network.world, self.transport
        when_us = world.now_us + self._network.delay()
        self._to_server.cut(when_us)
        if transport is not None:
            transport.to_client.cut(when_us)
            # A server that waits learns from its keep-alive, or never while nobody writes.
            world.after(world.between(0, 20_000 * MS), lambda: transport.break_off(ConnectionResetError("cut")))
        self.lose_after(world.between(0, 3000 * MS))

    def lose_after(self, delay_us: int) -> None:
        self._network.world.after(delay_us, self._lose)

    def stall(self) -> None:
        """Read no more for a while."""
        self.is_stalled = True

    def resume(self) -> None:
        self.is_stalled = False
        if self.transport is not None:
            self.transport.drain()

    def take(self, data: bytes) -> None:
        """Bytes have arrived."""
        if not self.is_closed:
            self._received(data)

    def _reach_server(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.arrive(data)

    def _end(self) -> None:
        if self.transport is not None:
            self.transport.arrive_end()

    def _lose(self) -> None:
        if not self.is_closed:
            self._forget()
            self._lost()

    def _forget(self) -> None:
        self.is_closed = True
        if self in self._network.sockets:
            self._network.sockets.remove(self)


class ServerTransport(asyncio.Transport):
    """The server's end, as its protocol has it."""

    def __init__(self, network: Network, loop: SimulatedLoop, socket: ClientSocket) -> None:
        super().__init__()
        self._network = network
        self._loop = loop
        self._socket = socket
        self._protocol: Any = None
        self._arrived = bytearray()
        self._has_ended = False
        self._is_reading = True
        self._is_closing = False
        self._is_over = False
        self._is_write_paused = False
        self._unsent = bytearray()
        self.to_client = Pipe(network, socket.take)
        self.is_gone = False  # with its process

    # The network's side.

    @property
    def is_over(self) -> bool:
        """Whether the server knows that the connection is."""
        return self._is_over

    def open(self, protocol: asyncio.BaseProtocol) -> None:
        """The server has taken the connection."""
        if not self.is_gone:
            self._protocol = protocol
            self._protocol.connection_made(self)
            self._look()

    def arrive(self, data: bytes) -> None:
        self._arrived += data
        self._look()

    def arrive_end(self) -> None:
        self._has_ended = True
        self._look()

    def break_off(self, error: Exception | None) -> None:
        """The connection turns out to be broken."""
        if not self._is_over and not self.is_gone and self._protocol is not None:
            self._is_over = self._is_closing = True
            self._loop.call_soon(self._protocol.connection_lost, error)

    def drain(self) -> None:
        """The peer reads again."""
        if self._unsent and not self.is_gone and not self._is_over:
            data, self._unsent = bytes(self._unsent), bytearray()
            self.to_client.send(data)
            if self._is_write_paused:
                self._is_write_paused = False
                self._loop.call_soon(self._protocol.resume_writing)
            if self._is_closing:
                self._finish()

    def _look(self) -> None:
        has_something = self._arrived or self._has_ended
        if has_something and self._is_reading and not self._is_closing and not self.is_gone and self._protocol is not None:
            self._loop.read_soon(self._read)

    def _read(self) -> None:
        if not self._is_reading or self._is_closing:
            return
        if self._arrived:
            rng = self._network.world.rng
            size = rng.randint(1, len(self._arrived)) if rng.random() < self._network.piece_odds else READ_BYTES
            data = bytes(self._arrived[:size])
            del self._arrived[:size]
            self._protocol.data_received(data)
            self._look()
        elif self._has_ended:
            self._protocol.eof_received()
            self.close()

    def _finish(self) -> None:
        self._is_over = True
        self._loop.call_soon(self._protocol.connection_lost, None)
        self.to_client.then(self._socket._lose)

    # The protocol's side.

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": ("192.0.2.1", self._socket.port), "sockname": ("127.0.0.1", 9092)}.get(name, default)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing or self.is_gone:
            return
        if not self._socket.is_stalled:
            self.to_client.send(bytes(data))
            return
        self._unsent += data
        if len(self._unsent) > HIGH_WATER and not self._is_write_paused:
            self._is_write_paused = True
            self._protocol.pause_writing()

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        self._is_reading = True
        self._look()

    def is_closing(self) -> bool:
        return self._is_closing

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            if not self._unsent:
                self._finish()

    def abort(self) -> None:
        if not self._is_over:
            self._is_closing = True
            self._unsent.clear()
            self._finish()
