"""What a pass over a connection may use before the next one is a step."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.groups import HEARTBEAT_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.wire.quantum import QUANTUM
from protocol.frames import encode_request
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.turns import ManualLoop

FRAME = encode_request(12, 4, 1, "client", HeartbeatRequest("group", 1, "member"))


@pytest.mark.parametrize(("units", "is_step"), [(QUANTUM // 5, False), (QUANTUM // 3, True)])
def test_more_than_a_quarter_of_a_quantum_makes_the_next_pass_a_step(units: int, is_step: bool) -> None:
    loop = ManualLoop()
    charges = [units, 0]

    def handle(_context: RequestContext, _request: Any, reply: Exchange[Any]) -> None:
        reply.connection.use_up(charges.pop(0))
        reply.complete(HeartbeatResponse())

    connection, _ = loop.connect(Dispatcher([serve_row(HEARTBEAT_API, handle)], loop.background))
    connection.data_received(FRAME)
    connection.data_received(FRAME)

    assert len(charges) == (1 if is_step else 0)
    loop.work()
    assert not charges
