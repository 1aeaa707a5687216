"""A client: a coroutine that asks and waits, in simulated time, and gives up and connects anew as clients do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from struct import Struct as Layout
from typing import Any, TypeVar

from protocol.codec import decode, encode
from protocol.fields import Message
from tests.simulation.history import Op
from tests.simulation.network import ClientSocket, Network
from tests.simulation.world import MS
from tests.support.client import API_VERSIONS, framed, request_header, response_type

M = TypeVar("M", bound=Message)
Told = Callable[[Op], None]

_LENGTH = Layout(">i")


class Wait:
    """Something that a script waits for; ``end`` gives it what it waited for."""

    def __init__(self) -> None:
        self.is_over = False
        self._value: Any = None
        self._resume: Callable[[], None] | None = None

    def __await__(self) -> Generator[Wait, None, Any]:
        if not self.is_over:
            yield self
        return self._value

    def then(self, resume: Callable[[], None]) -> None:
        self._resume = resume

    def end(self, value: Any = None) -> None:
        """Once is enough."""
        if not self.is_over:
            self.is_over = True
            self._value = value
            if self._resume is not None:
                self._resume()


class Script:
    """Runs a coroutine from one wait to the next."""

    def __init__(self, coroutine: Coroutine[Wait, None, None]) -> None:
        self._coroutine: Coroutine[Wait, None, None] | None = coroutine
        self._step()

    @property
    def is_over(self) -> bool:
        return self._coroutine is None

    def abandon(self) -> None:
        """It goes no further."""
        coroutine, self._coroutine = self._coroutine, None
        if coroutine is not None:
            coroutine.close()

    def _step(self) -> None:
        if self._coroutine is None:
            return
        try:
            self._coroutine.send(None).then(self._step)
        except StopIteration:
            self._coroutine = None


class Client:
    """One client and its connection.

    ``recorded`` gets every request that is sent, ``answered`` every answer before the script does.
    """

    def __init__(self, network: Network, client_id: str, recorded: Told, answered: Told) -> None:
        self.client_id = client_id
        self.life = -1
        self._network = network
        self._world = network.world
        self._recorded = recorded
        self._told = answered
        self._socket: ClientSocket | None = None
        # Those with requests whose answers nobody waits for any more.
        self._abandoned: list[ClientSocket] = []
        self._buffer = bytearray()
        self._waiting: deque[tuple[int, Op, Wait]] = deque()
        self._correlation_id = 0

    @property
    def now_us(self) -> int:
        """Microseconds since the beginning."""
        return self._world.now_us

    async def ask(self, request: Message, version: int, response: type[M], timeout_ms: int = 5000) -> M | None:
        """The answer; None when the connection broke first, or it took too long: then there is no connection any more."""
        answer = await self.send(request, version, timeout_ms)
        assert answer is None or isinstance(answer, response)
        return answer

    async def sleep(self, ms: int) -> None:
        """Let time pass."""
        wait = Wait()
        self._world.after(ms * MS, wait.end)
        await wait

    def send(self, request: Message, version: int, timeout_ms: int = 5000, client_id: str | None = None) -> Wait:
        """Ask without waiting for the answer: it comes after those to earlier requests."""
        if self._socket is None:
            self._buffer.clear()
            self._socket = self._network.connect(self._received, self._lost)
        socket = self._socket
        self._correlation_id += 1
        name = client_id or self.client_id
        op = Op(-1, name, socket.port, version, request, self._world.now_us, life=self.life)
        self._recorded(op)
        wait = Wait()
        self._waiting.append((self._correlation_id, op, wait))
        assert request.kafka.key is not None
        header = request_header(request.kafka.key, version, self._correlation_id, name, version in request.kafka.flexible)
        socket.send(framed(header + encode(request, version)))
        self._world.after(timeout_ms * MS, lambda: self._give_up(socket, wait))
        return wait

    @property
    def may_be_heard_late(self) -> bool:
        """Whether a server may still have a request of which nobody has heard: it would run after later ones."""
        self._abandoned = [socket for socket in self._abandoned if socket.may_be_read]
        return bool(self._abandoned)

    def stall(self, ms: int) -> None:
        """Read nothing for a while."""
        socket = self._socket
        if socket is not None:
            socket.stall()
            self._world.after(ms * MS, socket.resume)

    def cut(self) -> None:
        """The connection breaks."""
        if self._socket is not None:
            self._socket.cut()

    def close(self) -> None:
        """Hang up."""
        if self._socket is not None:
            self._socket.close()
            self._lost()

    def vanish(self) -> None:
        """End without a word: nobody is told, and nobody is waited for."""
        if self._socket is not None:
            self._abandon(self._socket)
            self._socket.vanish()
            self._socket = None
        for _, op, _ in self._waiting:
            op.lost_us = self._world.now_us
        self._waiting.clear()

    def _give_up(self, socket: ClientSocket, wait: Wait) -> None:
        if self._socket is socket and not wait.is_over:
            self.close()

    def _abandon(self, socket: ClientSocket) -> None:
        if self._waiting:
            self._abandoned.append(socket)

    def _lost(self) -> None:
        if self._socket is not None:
            self._abandon(self._socket)
        self._socket = None
        self._buffer.clear()
        waiting, self._waiting = self._waiting, deque()
        for _, op, _ in waiting:
            op.lost_us = self._world.now_us
        for _, _, wait in waiting:
            wait.end(None)

    def _received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= 4:
            size = 4 + _LENGTH.unpack_from(self._buffer)[0]
            if len(self._buffer) < size:
                return
            frame = bytes(self._buffer[4:size])
            del self._buffer[:size]
            self._answered(frame)

    def _answered(self, frame: bytes) -> None:
        correlation_id, op, wait = self._waiting.popleft()
        assert _LENGTH.unpack_from(frame)[0] == correlation_id, f"not the answer to #{op.number}"
        response = response_type(type(op.request))
        has_tags = op.version in response.kafka.flexible and response.kafka.key != API_VERSIONS
        op.response = decode(response, op.version, frame[5 if has_tags else 4 :])
        op.answered_us = self._world.now_us
        self._told(op)
        wait.end(op.response)
