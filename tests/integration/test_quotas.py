"""Quotas over the wire: they count at all loops before they are answered, survive a restart, and end when they are removed."""

from __future__ import annotations

import time
from pathlib import Path

from protocol.error_codes import ErrorCode
from protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    RequestEntryData,
)
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest, DescribeClientQuotasResponse
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.client import Client
from tests.support.server import Server

GREEDY = "greedy"
ANY = ComponentData("client-id", 2, None)
BEAT = HeartbeatRequest("g", 1, "m")


def alter(client: Client, kind: str, name: str | None, op: OpData) -> None:
    request = AlterClientQuotasRequest([RequestEntryData([EntityData(kind, name)], [op])])
    assert [entry.error_code for entry in client.ask(request, 1, AlterClientQuotasResponse).entries] == [ErrorCode.NONE]


def described(client: Client) -> list[tuple[str | None, float]]:
    entries = client.ask(DescribeClientQuotasRequest([ANY]), 1, DescribeClientQuotasResponse).entries
    return [(each.entity[0].entity_name, each.values[0].value) for each in entries or ()]


def throttled_ms(server: Server, loop: int, client_id: str, beats: int = 2) -> int:
    """Send heartbeats at once, and return the sum of the times that the answers say; at least as long they took."""
    with Client(server.addresses[loop], client_id) as client:
        began = time.monotonic()
        for _ in range(beats):
            client.send(BEAT, 4)
        answers = [client.receive() for _ in range(beats)]
        took_ms = (time.monotonic() - began) * 1000
    waits = [answer.throttle_time_ms for answer in answers if isinstance(answer, HeartbeatResponse)]
    # After the last answer nobody waits here.
    assert took_ms >= sum(waits[:-1])
    return sum(waits)


def test_a_request_quota_counts_at_all_loops_and_after_a_restart(tmp_path: Path) -> None:
    """Of the client that has it: others do not wait, and it does not once the quota is removed."""
    quota = OpData("request_percentage", 0.001)
    with Server(tmp_path, loops=2) as server:
        with Client(server.addresses[1], "admin") as admin:
            assert throttled_ms(server, 0, GREEDY) == 0
            alter(admin, "client-id", GREEDY, quota)
            assert described(admin) == [(GREEDY, quota.value)]
        assert [throttled_ms(server, loop, GREEDY) > 0 for loop in (0, 1)] == [True, True]
        assert throttled_ms(server, 0, "other") == 0
        server.stop()
        server.start()
        assert throttled_ms(server, 1, GREEDY) > 0
        with Client(server.addresses[0], "admin") as admin:
            alter(admin, "client-id", GREEDY, OpData(quota.key, remove=True))
            assert described(admin) == []
        assert [throttled_ms(server, loop, GREEDY) for loop in (0, 1)] == [0, 0]


def test_the_rate_of_connections_of_an_address(tmp_path: Path) -> None:
    """One a second is ten at once; then they are held for a while and closed, and the connections that exist go on."""
    with Server(tmp_path) as server, Client(server.address, "admin") as admin:
        alter(admin, "ip", "127.0.0.1", OpData("connection_creation_rate", 1.0))
        accepted = [Client(server.address) for _ in range(12)]
        assert accepted[-1].is_closed()
        assert accepted[0].ask(ApiVersionsRequest("tests", "1"), 4, ApiVersionsResponse).error_code == ErrorCode.NONE
        alter(admin, "ip", "127.0.0.1", OpData("connection_creation_rate", remove=True))
        with Client(server.address) as again:
            assert again.ask(ApiVersionsRequest("tests", "1"), 4, ApiVersionsResponse).error_code == ErrorCode.NONE
        for client in accepted:
            client.close()
