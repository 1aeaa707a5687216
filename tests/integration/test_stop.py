"""The end of a server within ``stop.timeout.ms``, whatever its clients do."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.support.client import Client
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed, coordinator, make_topic

STOP_S = 5.0


def join(group_id: str) -> JoinGroupRequest:
    return JoinGroupRequest(group_id, 30_000, 60_000, "", None, "consumer", [JoinGroupRequestProtocol("range", b"")])


@pytest.mark.parametrize("loops", [1, 2])
def test_a_server_stops_within_its_timeout_and_keeps_what_it_acknowledged(tmp_path: Path, loops: int) -> None:
    """Members wait for others, a peer does not read its answers, one has sent half a request;
    what was acknowledged is there afterwards.
    """
    with Server(tmp_path, {"group.initial.rebalance.delay.ms": 60_000}, loops=loops) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 500)
            home = coordinator(client, "readers")
        with Client(home) as client, Client(home) as waiting, socket.create_connection(home) as half, deaf(home):
            other = ErrorCode.NONE if home == coordinator(client, "readers-2") else ErrorCode.NOT_COORDINATOR
            assert commit_alone(client, "readers-2", "orders", {0: 7})[0] == other
            waiting.send(join("readers"), 3)
            half.sendall(b"\0\0\1\0\0\x12")
            time.sleep(0.2)
            started_s = time.monotonic()

            assert server.stop() == 0

            assert time.monotonic() - started_s < STOP_S
            answer = answer_or_end(waiting)
            assert answer is None or (isinstance(answer, JoinGroupResponse) and answer.error_code != ErrorCode.NONE)
        server.start()
        with Client(server.address) as client, Client(coordinator(client, "readers-2")) as owner:
            assert committed(owner, "readers-2") == ({("orders", 0): 7} if other == ErrorCode.NONE else {})


def answer_or_end(client: Client) -> Message | None:
    try:
        return client.receive()
    except ConnectionError:
        return None


def deaf(address: tuple[str, int]) -> Client:
    """A client that asks for megabytes and reads none of them."""
    client = Client(address)
    for _ in range(600):
        client.send(MetadataRequest([MetadataRequestTopic(name="orders")]), 9)
    return client


def test_a_disk_that_stands_still_does_not_keep_the_process() -> None:
    """It ends in time with exit code 0, and says so."""
    program = "import time; from coordinator_server.cli.deadline import end_within; end_within(100); time.sleep(60)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False)

    assert done.returncode == 0
    assert "stop-cut-short" in done.stdout + done.stderr
