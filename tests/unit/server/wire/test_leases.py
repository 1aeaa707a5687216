"""When a pass over a connection, and what continues in later turns, asks whether this process may answer."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.lease import Gate, Lease
from coordinator_server.server.apis.groups import HEARTBEAT_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import LARGE_FRAME_BYTES, Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from protocol.error_codes import ErrorCode
from protocol.frames import encode_request
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.clock import ManualClock
from tests.support.turns import ManualLoop

HEARTBEAT = 12
LEASE_MS = 10_000


class Server:
    """A connection to a server with both leases. Its heartbeats say whether the shards' lease is over."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.loop = ManualLoop()
        self.looks = 0
        self.loop.turns.gate = gate = Gate(self._boot_ms)
        self.shards, self.catalog = gate.lease(), gate.lease()
        self.heard: list[bool] = []
        self.reported: list[dict[str, Any]] = []
        dispatch = Dispatcher([serve_row(HEARTBEAT_API, self._handle)], self.loop.background)
        self.connection, self.transport = self.loop.connect(dispatch)
        self.connection.report = lambda name, **fields: self.reported.append({"event": name, **fields})

    def _boot_ms(self) -> int:
        self.looks += 1
        return self.clock.boot_ms()

    def _handle(self, context: RequestContext, request: Any, reply: Exchange[Any]) -> None:
        self.heard.append(self.shards.is_over)
        reply.complete(HeartbeatResponse(0, ErrorCode.NONE))

    def renew(self, *leases: Lease) -> None:
        for lease in leases:
            lease.renew(self.clock.boot_ms(), LEASE_MS)
        self.looks = 0

    def send(self, requests: int = 1, *, size: int = 2) -> None:
        request = encode_request(HEARTBEAT, 4, 1, "client", HeartbeatRequest("g" * (size // 2), 1, "m" * (size // 2)))
        self.connection.data_received(request * requests)


@pytest.fixture
def server() -> Server:
    return Server()


def test_a_pass_costs_one_look_at_the_clock(server: Server) -> None:
    """However many requests it has; and none if no lease ends."""
    server.send(20)
    assert server.looks == 0
    server.renew(server.shards)

    server.send(20)

    assert (server.looks, server.heard) == (1, [False] * 40)


@pytest.mark.parametrize("name", ["shards", "catalog"])
def test_without_one_of_its_leases_a_process_answers_nobody(server: Server, name: str) -> None:
    """It was stopped, and finds requests in its socket: others may have its shards, and ACLs may have changed."""
    server.renew(getattr(server, name))
    server.clock.advance(LEASE_MS)

    server.send()

    assert (server.heard, server.transport.writes, server.transport.is_closed) == ([], [], True)
    assert [line["event"] for line in server.reported] == ["connection-refused"]


@pytest.mark.parametrize("is_over", [False, True])
def test_what_a_thread_has_decoded_is_compared_when_it_comes_back(server: Server, is_over: bool) -> None:
    server.renew(server.shards, server.catalog)
    server.send(size=LARGE_FRAME_BYTES - 100)
    server.send(size=LARGE_FRAME_BYTES)
    assert server.heard == [False]
    server.clock.advance(LEASE_MS if is_over else 1)

    server.loop.work()

    assert (server.heard, server.transport.is_closed) == ([False] if is_over else [False, False], is_over)


def test_a_long_request_that_goes_on_is_compared_in_each_turn(server: Server) -> None:
    server.renew(server.shards)
    seen: list[bool] = []
    server.loop.turns.queue(lambda: seen.append(server.shards.is_over))
    server.clock.advance(LEASE_MS)

    server.loop.turn()

    assert seen == [True]
