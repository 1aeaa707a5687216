"""The times of requests: until their answer is encoded, also if that is done in the thread."""

from __future__ import annotations

import pytest

from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.unit.server.exchange.test_exchange import LARGE, SMALL, VERSION, Peer


@pytest.mark.parametrize("request_", [SMALL, LARGE], ids=["small", "large"])
def test_the_time_of_a_measured_request_is_counted_when_its_answer_is_encoded(request_: HeartbeatRequest) -> None:
    peer = Peer()
    first, _ = peer.begin(SMALL)
    first.complete(HeartbeatResponse())
    tally = first.row.tallies[VERSION]
    tally.measure("JoinGroup")
    exchange, _ = peer.begin(request_)
    before = sum(tally.times)
    exchange.complete(HeartbeatResponse())
    peer.loop.work()

    assert (before, sum(tally.times)) == (0, 1)
