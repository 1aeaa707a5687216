"""Quotas over the wire: they count at all loops before they are answered, survive a restart, and end when they are removed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main
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
from tests.support.command_forks import run_command
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
        check_command(server)


def check_command(server: Server) -> None:
    """``coordinator-server quotas`` over Kafka's protocol, over control.sock, and in the log of a server that is stopped."""
    bootstrap, directory = ["--bootstrap", server.bootstrap], ["--data-dir", str(server.data_dir)]
    percent = {"user": None, "client_id": GREEDY, "ip": None, "quota": "request_percentage"}
    rate = {"user": None, "client_id": None, "ip": "<default>", "quota": "connection_creation_rate"}

    def quotas(*words: str, code: int = 0) -> Any:
        done = run_command("quotas", *words, "-o", "json")
        assert done.returncode == code, done.stderr or done.stdout
        return json.loads(done.stdout)

    def change(quota: Mapping[str, object], before: object, after: object, outcome: str, error: str | None = None) -> Any:
        return [{**quota, "before": before, "after": after, "outcome": outcome, "error": error}]

    setting = ("set", "request_percentage=0.001", "--client-id", GREEDY)
    for where in (bootstrap, directory):
        assert quotas(*setting, *where) == change(percent, None, 0.001, "would be set")
        [refused] = quotas("set", "request_percentage=-1", "--client-id", GREEDY, *where, code=1)
        assert (refused["outcome"], "must be greater than 0" in refused["error"]) == ("refused", True)
        assert quotas("list", *where) == []
    assert quotas(*setting, *bootstrap, "--execute") == change(percent, None, 0.001, "set")
    assert throttled_ms(server, 1, GREEDY) > 0
    setting_rate = ("set", "connection_creation_rate=1000", "--default-ip")
    assert quotas(*setting_rate, *directory, "--execute") == change(rate, None, 1000, "set")
    assert quotas("list", *bootstrap) == quotas("list", *directory) == [percent | {"value": 0.001}, rate | {"value": 1000}]
    assert quotas("list", "--default-ip", *bootstrap) == [rate | {"value": 1000}]
    lines = [line for line in map(json.loads, server.log().splitlines()) if line.get("operation") == "alter-quotas"]
    assert [(line["resources"], line.get("validate_only")) for line in lines[-2:]] == [
        (["ClientQuota:client-id=greedy request_percentage=-1.0"], True),
        (["ClientQuota:ip=<default> connection_creation_rate=1000.0"], None),
    ]

    server.stop()
    assert quotas("remove", "--client-id", GREEDY, *directory) == change(percent, 0.001, None, "would be removed")
    assert quotas("remove", "--client-id", GREEDY, *directory, "--execute") == change(percent, 0.001, None, "removed")
    assert quotas("remove", "--client-id", GREEDY, *directory) == []
    again = quotas("remove", "request_percentage", "--client-id", GREEDY, *directory, code=1)
    assert again == change(percent, None, None, "refused", "has no such quota")
    server.start()
    bootstrap = ["--bootstrap", server.bootstrap]
    assert quotas("list", *bootstrap) == [rate | {"value": 1000}]
    assert throttled_ms(server, 0, GREEDY) == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["set", "request_percentage=1"], "no user, client or address is named"),
        (["list", "--data-dir", ".", "--bootstrap", "127.0.0.1:1"], "exclude each other"),
        (["set", "request_percentage", "--user", "a"], "is not of the form QUOTA=VALUE"),
        (["set", "request_percentage=nan", "--user", "a"], "is not of the form QUOTA=VALUE"),
        (["set", "request_percentage=1", "--user", "a", "--default-user"], "not allowed with argument"),
    ],
)
def test_what_quotas_refuses(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before it asks anybody."""
    try:
        code = main(["quotas", *words])
    except SystemExit as ended:
        code = int(str(ended.code))

    assert (code, says in capsys.readouterr().err) == (2, True)


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
