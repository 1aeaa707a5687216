"""A configuration file and the environment at a start, and what SIGHUP makes of them in all loops."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse
from tests.support.client import Client, Closed
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import topic_of

FILE = """\
topics = ["orders:2"]
num.partitions = 3
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("server")
    (directory / "server.toml").write_text(FILE)
    server = Server(directory, loops=2)
    server.words = ["--config", str(directory / "server.toml")]
    server.environment = {"KAFKA_GROUP_MAX_SIZE": "7", "KAFKA_NODE_ID": "11", "KAFKA_BROKER_ID": "1"}
    with server:
        yield server


def configs(server: Server, loop: int, *names: str) -> dict[str, str | None]:
    """The values that a loop answers."""
    with Client(server.addresses[loop]) as client:
        request = DescribeConfigsRequest([DescribeConfigsResource(4, str(11 + loop), list(names))])
        [found] = client.ask(request, 4, DescribeConfigsResponse).results
    return {each.name: each.value for each in found.configs}


def lines(server: Server, event: str) -> list[dict[str, object]]:
    return [each for each in map(json.loads, server.log().splitlines()) if each["event"] == event]


def test_file_and_environment_are_those_of_every_loop(server: Server) -> None:
    wanted = {"num.partitions": "3", "group.max.size": "7", "node.id": "11"}

    assert configs(server, 0, *wanted) == wanted
    assert configs(server, 1, *wanted) == wanted | {"node.id": "12"}
    [unknown] = lines(server, "unknown-property")
    assert (unknown["name"], unknown["place"], unknown["nearest"]) == ("broker.id", "KAFKA_BROKER_ID", "node.id")


def connect_often(server: Server, times: int) -> None:
    """Open connections to the second loop, each with a request, and close them at the end."""
    with contextlib.ExitStack() as opened:
        for _ in range(times):
            opened.enter_context(Client(server.addresses[1])).ask(DescribeConfigsRequest([]), 4, DescribeConfigsResponse)


def test_what_may_change_changes_in_every_loop(server: Server) -> None:
    """What may not is named, and a file that is wrong changes nothing."""
    file = Path(server.words[1])
    with Client(server.addresses[1]) as before:
        file.write_text(
            'topics = ["orders:2", "payments:5"]\nnum.partitions = 4\nlog.flush = "os"\nmax.connections.per.ip = 10\n'
        )
        server.send_signal(signal.SIGHUP)

        eventually(lambda: [configs(server, loop, "num.partitions")["num.partitions"] for loop in (0, 1)] == ["4", "4"])
        eventually(lambda: len(topic_of(before, "payments", is_created=False).partitions) == 5)
        with pytest.raises((Closed, ConnectionError)):
            connect_often(server, 20)
    [reloaded] = lines(server, "configuration-reloaded")
    assert reloaded["changed"] == ["num.partitions", "topics", "max.connections.per.ip"]
    [waits] = lines(server, "configuration-waits")
    assert waits["properties"] == ["log.flush"]

    file.write_text("num.partitions = 5\nmax.connections = 0\n")
    server.send_signal(signal.SIGHUP)
    eventually(lambda: lines(server, "configuration-not-reloaded") != [])
    assert f"{file}:2: max.connections takes" in str(lines(server, "configuration-not-reloaded")[0]["why"])
    assert configs(server, 0, "num.partitions") == {"num.partitions": "4"}
