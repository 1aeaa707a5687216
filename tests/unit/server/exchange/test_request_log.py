"""The log of requests: one line for each, when it is answered."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.groups import HEARTBEAT_API
from coordinator_server.server.exchange.api_row import observed, serve_row
from coordinator_server.server.exchange.dispatch import LARGE_FRAME_BYTES, Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.request_log import RequestLine
from protocol.error_codes import ErrorCode
from protocol.frames import encode_request
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.turns import ManualLoop


class Peer:
    """A client of a server whose heartbeats are answered by hand."""

    def __init__(self, *, is_logged: bool) -> None:
        self.loop = ManualLoop()
        self.parked: list[Exchange[Any]] = []
        rows = [serve_row(HEARTBEAT_API, self._park)]
        dispatcher = Dispatcher(observed(rows, RequestLine) if is_logged else rows, self.loop.background)
        self.connection, _ = self.loop.connect(dispatcher)

    def _park(self, context: RequestContext, request: Any, exchange: Exchange[Any]) -> None:
        self.parked.append(exchange)

    def send(self, member_id: str = "member") -> None:
        self.connection.data_received(encode_request(12, 4, 7, "client", HeartbeatRequest("group" + member_id, 1, member_id)))
        self.loop.work()

    def answer(self) -> None:
        for exchange in self.parked:
            exchange.complete(HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
        self.loop.work()


@pytest.mark.parametrize("is_logged", [False, True])
def test_requests_are_logged_only_if_they_are_to_be(is_logged: bool) -> None:
    """One line for each, when it is answered."""
    peer = Peer(is_logged=is_logged)
    with capture_logs() as lines:
        peer.send()
        peer.send()
        assert lines == []
        peer.answer()
    logged = [(line["event"], line["api"], line["client_id"], line["group_id"], line["error"]) for line in lines]

    assert logged == [("request", "Heartbeat", "client", "groupmember", "UNKNOWN_MEMBER_ID")] * 2 * is_logged


def test_a_large_request_is_logged_too() -> None:
    peer = Peer(is_logged=True)
    with capture_logs() as lines:
        peer.send("m" * (LARGE_FRAME_BYTES // 2))
        peer.answer()

    assert [line["error"] for line in lines] == ["UNKNOWN_MEMBER_ID"]
