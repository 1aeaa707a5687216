"""A plain blocking connection that speaks Kafka through the declarations of protocol/: one request at a time, or pipelined."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import sys
from collections import deque
from typing import Self, TypeVar

from protocol.codec import decode, encode
from protocol.fields import Message

M = TypeVar("M", bound=Message)

API_VERSIONS = 18
_LENGTH = struct.Struct(">i")
_HEADER = struct.Struct(">hhih")


class Closed(ConnectionError):
    """The peer closed the connection."""


class Client:
    """A connection. Answers are taken in the order of the requests, and their correlation ids are checked."""

    def __init__(self, address: tuple[str, int], client_id: str = "tests", timeout_s: float = 30, host: str = "") -> None:
        """``host`` is the client's own address, if it matters."""
        self._begin(socket.create_connection(address, timeout_s, (host, 0) if host else None), client_id)

    @classmethod
    def over_tls(cls, address: tuple[str, int], tls: ssl.SSLContext, client_id: str = "tests") -> Self:
        """Connect with TLS. Raises ssl.SSLError."""
        client = cls.__new__(cls)
        client._begin(tls.wrap_socket(socket.create_connection(address, 30), server_hostname="localhost"), client_id)
        return client

    def _begin(self, connected: socket.socket, client_id: str) -> None:
        self.client_id = client_id
        self._socket = connected
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()
        self._correlation_id = 0
        self._awaited: deque[tuple[int, type[Message], int]] = deque()

    @property
    def port(self) -> int:
        """The client's own."""
        return int(self._socket.getsockname()[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, request: Message, version: int) -> Message:
        """Send and wait. Callers say which response they expect with ``ask``; this is for the few that do not know."""
        self.send(request, version)
        return self.receive()

    def ask(self, request: Message, version: int, response: type[M]) -> M:
        """Send and wait for a response of that type."""
        answer = self.call(request, version)
        assert isinstance(answer, response)
        return answer

    def send(self, request: Message, version: int) -> None:
        self._socket.sendall(self.frame(request, version))

    def frame(self, request: Message, version: int) -> bytes:
        """The request as it goes on the wire, expected to be answered after those before it."""
        key, flexible = request.kafka.key, version in request.kafka.flexible
        assert key is not None
        self._correlation_id += 1
        self._awaited.append((self._correlation_id, response_type(type(request)), version))
        return framed(request_header(key, version, self._correlation_id, self.client_id, flexible) + encode(request, version))

    def receive(self) -> Message:
        """The answer to the oldest request that has none yet."""
        correlation_id, response, version = self._awaited.popleft()
        data = self.receive_frame()
        assert _LENGTH.unpack_from(data)[0] == correlation_id, "answers out of order"
        has_tags = version in response.kafka.flexible and response.kafka.key != API_VERSIONS
        assert not has_tags or data[4] == 0, "a tagged field in the response header"
        return decode(response, version, data[5 if has_tags else 4 :])

    def is_waiting(self) -> bool:
        """Whether nothing has arrived of the answer to the oldest request that has none yet."""
        readable, _, _ = select.select([self._socket], [], [], 0)
        return bool(self._awaited) and not self._buffer and not readable

    def send_bytes(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive_frame(self) -> bytes:
        (size,) = _LENGTH.unpack(self._take(4))
        return self._take(size)

    def is_closed(self) -> bool:
        """Waits until the peer closes; anything that it says instead is a failure."""
        try:
            return not self._buffer and not self._socket.recv(1)
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self._socket.close()

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            chunk = self._socket.recv(1 << 16)
            if not chunk:
                raise Closed("closed by the server")
            self._buffer += chunk
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


def response_type(request: type[Message]) -> type[Message]:
    """FetchRequest → FetchResponse, of the same module."""
    found = getattr(sys.modules[request.__module__], request.__name__.removesuffix("Request") + "Response")
    assert issubclass(found, Message)
    return found


def request_header(key: int, version: int, correlation_id: int, client_id: str, flexible: bool) -> bytes:
    """Version 2 when the request is flexible, otherwise version 1."""
    name = client_id.encode()
    return _HEADER.pack(key, version, correlation_id, len(name)) + name + (b"\0" if flexible else b"")


def framed(body: bytes) -> bytes:
    return _LENGTH.pack(len(body)) + body
