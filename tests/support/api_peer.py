"""One client of one API: requests go in as bytes, and the handler has a node that the test made."""

from __future__ import annotations

from functools import partial
from typing import Any

from coordinator_server.server.exchange.api_row import ApiRow, serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.steps import Steps
from coordinator_server.server.wire.connection import Limits
from protocol.fields import Message
from protocol.frames import FrameSplitter, decode_response, encode_request
from tests.support.turns import ManualLoop

LIMITS = Limits(1 << 24, 1000)


class ApiPeer:
    """A connection whose requests are answered one after the other. The node gets ``steps``."""

    def __init__(self, row: ApiRow[Any, Any], node: Any) -> None:
        self._loop = ManualLoop()
        self._key: int = row.request.kafka.key
        node.steps = Steps(self._loop.turns)
        dispatcher = Dispatcher([serve_row(row, partial(row.handle, node))], self._loop.background)
        self._connection, self._transport = self._loop.connect(dispatcher, LIMITS)

    def arrive(self, request: Message, version: int) -> None:
        """Receive a request, without the turns that follow."""
        self._connection.data_received(encode_request(self._key, version, 7, "client", request))

    def send(self, request: Message, version: int) -> None:
        self.arrive(request, version)
        self._loop.work()

    def turns(self, count: int) -> None:
        """Some turns only: a request may wait for what the test does next, and look for it in each turn."""
        for _ in range(count):
            self._loop.turn()

    def receive(self, version: int) -> Message:
        """The one answer that has come."""
        self._loop.work()
        [frame] = FrameSplitter(1 << 26).feed(b"".join(self._transport.writes))
        self._transport.writes.clear()
        return decode_response(self._key, version, frame)[1]

    @property
    def is_waiting(self) -> bool:
        """Whether nothing has come."""
        return not self._transport.writes

    def ask(self, request: Message, version: int) -> Message:
        self.send(request, version)
        return self.receive(version)
