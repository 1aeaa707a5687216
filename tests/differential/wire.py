"""Requests and answers as bytes on connections, without waiting: the schemas that encode and decode them are Kafka's own."""

from __future__ import annotations

import re
import select
import socket
import struct
import time
from typing import Any, Final

from protocol.codec import decode
from protocol.fields import Message
from tests.support.client import API_VERSIONS, framed, request_header, response_type
from tests.support.oracle import Field, Value, schema

PATIENCE_S: Final = 30.0
_SIZE: Final = struct.Struct(">i")


class Sent:
    """A request on its way: ``answer`` is None while it is parked. One that is ``lost`` is known to be never answered."""

    def __init__(self, ordinal: int, client: str, api: str, version: int, group_id: str) -> None:
        self.ordinal = ordinal
        self.client = client
        self.api = api
        self.version = version
        self.group_id = group_id
        self.member_id = ""
        self.answer: Value | None = None
        self.message: Message | None = None
        self.is_lost = False
        # What tells apart requests of one API whose answers have an order, or none.
        self.extent = ""

    def __str__(self) -> str:
        return f"{self.client} {self.api} v{self.version} (request {self.ordinal})"


class Connection:
    """One request at a time, as a client that waits for its answer."""

    def __init__(self, address: tuple[str, int], client_id: str) -> None:
        self._client_id = client_id
        self._socket = socket.create_connection(address, timeout=PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""
        self._correlation_id = 0
        self._awaited: tuple[type[Message], int] | None = None
        self._last: tuple[Message, int] | None = None
        self.sent: Sent | None = None

    @property
    def is_idle(self) -> bool:
        return self._awaited is None

    def send(self, request: Message, version: int, sent: Sent | None = None) -> None:
        assert self._awaited is None, "one request at a time"
        kind = type(request)
        assert kind.kafka.key is not None
        wanted = schema(kind.__name__, version)
        self._correlation_id += 1
        header = request_header(kind.kafka.key, version, self._correlation_id, self._client_id, wanted.flexible)
        self._awaited, self.sent, self._last = (response_type(kind), version), sent, (request, version)
        self._socket.sendall(framed(header + wanted.encode(value_of(request, version))))

    def repeat(self, sent: Sent) -> None:
        """Send the last request again, which has been answered."""
        assert self._last is not None
        self.send(*self._last, sent)

    def poll(self, within_s: float = 0.0) -> tuple[Value, Message] | None:
        """The answer, if it comes in time."""
        deadline = time.monotonic() + within_s
        while (frame := self._frame()) is None:
            if not select.select([self._socket], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return None
            chunk = self._socket.recv(1 << 16)
            if not chunk:
                raise ConnectionError(f"the server hung up on {self.sent}")
            self._buffer += chunk
        assert self._awaited is not None
        (kind, version), self._awaited, self.sent = self._awaited, None, None
        assert _SIZE.unpack_from(frame)[0] == self._correlation_id
        wanted = schema(kind.__name__, version)
        has_tags = wanted.flexible and kind.kafka.key != API_VERSIONS
        body = frame[5 if has_tags else 4 :]
        return _small(wanted.decode(body)), decode(kind, version, body)

    def ask(self, request: Message, version: int) -> Value:
        """For what is always answered."""
        self.send(request, version)
        answer = self.poll(PATIENCE_S)
        assert answer is not None, f"no answer to {type(request).__name__} within {PATIENCE_S} s"
        return answer[0]

    def close(self) -> None:
        self._socket.close()

    def _frame(self) -> bytes | None:
        if len(self._buffer) < 4 or len(self._buffer) < 4 + _SIZE.unpack_from(self._buffer)[0]:
            return None
        size = _SIZE.unpack_from(self._buffer)[0]
        frame, self._buffer = self._buffer[4 : 4 + size], self._buffer[4 + size :]
        return frame


def value_of(request: Message, version: int) -> Value:
    """What is sent for the request, by the schema's names."""
    return _as_value(request, schema(type(request).__name__, version).fields)


def _as_value(item: Any, fields: tuple[Field, ...]) -> Value:
    """A struct of ours by the schema's names, as far as the version has them."""
    return {field.name: _value(field, getattr(item, _snake(field.name))) for field in fields}


def _value(field: Field, value: Any) -> Any:
    if value is None:
        return None if field.nullable else field.default
    if field.is_array:
        return [_value(field.element, element) for element in value]
    return _as_value(value, field.fields) if field.fields else value


def _small(value: Any) -> Any:
    """Field names with a small first letter, as Kafka's JSON has them."""
    if isinstance(value, dict):
        return {name[0].lower() + name[1:]: _small(inner) for name, inner in value.items()}
    return [_small(element) for element in value] if isinstance(value, list) else value


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), name).lstrip("_")
