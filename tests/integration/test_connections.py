"""What a connection gets: answers in order, Kafka's answer to what is not served, and an end when its bytes are bad."""

from __future__ import annotations

import struct
from contextlib import ExitStack
from pathlib import Path

import pytest

from protocol.codec import decode
from protocol.error_codes import ErrorCode
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.client import Client, framed, request_header
from tests.support.server import Server

SERVED = {
    1: (4, 18),
    2: (1, 11),
    3: (0, 13),
    8: (2, 10),
    9: (1, 10),
    10: (0, 6),
    11: (0, 9),
    12: (0, 4),
    13: (0, 5),
    14: (0, 5),
    15: (0, 6),
    16: (0, 5),
    18: (0, 4),
    19: (2, 7),
}


@pytest.mark.parametrize("version", range(5))
def test_api_versions_tells_what_is_served(client: Client, version: int) -> None:
    """Every API of this release is there with the range that Kafka 4.3.1 serves."""
    answer = client.ask(
        ApiVersionsRequest(client_software_name="tests", client_software_version="1"), version, ApiVersionsResponse
    )

    ranges = {row.api_key: (row.min_version, row.max_version) for row in answer.api_keys}
    assert answer.error_code == ErrorCode.NONE
    assert {key: ranges.get(key) for key in SERVED} == SERVED


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(client: Client) -> None:
    """So that a newer client learns what it may use (KIP-511)."""
    client.send_bytes(framed(request_header(18, 99, 7, "newer", flexible=True) + b"\x06newer\x021\0"))

    data = client.receive_frame()
    answer = decode(ApiVersionsResponse, 0, data[4:])
    assert struct.unpack_from(">i", data) == (7,)
    assert isinstance(answer, ApiVersionsResponse)
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(row.api_key, row.min_version, row.max_version) for row in answer.api_keys if row.api_key == 18] == [(18, 0, 4)]


@pytest.mark.parametrize(
    ("key", "version"), [(4711, 0), (12, 99), (8, 1)], ids=["unknown api", "version too new", "version too old"]
)
def test_what_is_not_served_closes_the_connection(client: Client, key: int, version: int) -> None:
    """No answer could be read by the peer, so there is none."""
    client.send_bytes(framed(request_header(key, version, 1, "lost", flexible=False) + bytes(16)))

    assert client.is_closed()


def test_pipelined_requests_are_answered_in_order(client: Client, fresh_name: str) -> None:
    """Many requests in one write, of kinds that take different paths: the answers come in the order of the questions."""
    heartbeat = HeartbeatRequest(group_id=fresh_name, generation_id=1, member_id="nobody")
    rounds: list[tuple[type, bytes]] = []
    for _ in range(50):
        rounds.append((HeartbeatResponse, client.frame(heartbeat, 4)))
        rounds.append((ApiVersionsResponse, client.frame(ApiVersionsRequest(), 0)))
        rounds.append((FindCoordinatorResponse, client.frame(FindCoordinatorRequest(coordinator_keys=[fresh_name]), 4)))

    client.send_bytes(b"".join(frame for _, frame in rounds))

    assert [type(client.receive()) for _ in rounds] == [expected for expected, _ in rounds]


def test_a_request_may_arrive_byte_by_byte(client: Client) -> None:
    """Frames are frames however they are cut."""
    for byte in client.frame(ApiVersionsRequest(), 0):
        client.send_bytes(bytes([byte]))

    assert isinstance(client.receive(), ApiVersionsResponse)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(struct.pack(">i", 0x7FFFFFFF), id="a frame of 2 GiB"),
        pytest.param(struct.pack(">i", -1), id="a negative length"),
        pytest.param(framed(b"\0"), id="less than a header"),
        pytest.param(
            framed(request_header(12, 4, 1, "x", flexible=True) + b"\xff\xff\xff\xff\x0f"), id="a string longer than the frame"
        ),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", id="another protocol"),
    ],
)
def test_bad_bytes_end_their_connection_and_no_other(address: tuple[str, int], client: Client, bad: bytes) -> None:
    """A peer that speaks nonsense is cut off; its neighbour notices nothing."""
    with Client(address) as nonsense:
        nonsense.send_bytes(bad)
        assert nonsense.is_closed()

    assert isinstance(client.call(ApiVersionsRequest(), 0), ApiVersionsResponse)


@pytest.mark.parametrize("loops", [1, 2])
def test_as_many_files_may_be_open_as_the_system_allows(tmp_path: Path, loops: int) -> None:
    """However few the shell that started it allows: more clients connect than that."""
    server = Server(tmp_path, loops=loops)
    server.run_by = ["sh", "-c", 'ulimit -Sn 64; exec "$@"', "sh"]
    with server, ExitStack() as stack:
        clients = [stack.enter_context(Client(server.address)) for _ in range(100)]
        answers = {client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse).error_code for client in clients}

    assert answers == {ErrorCode.NONE}
