"""One connection: authentication, throttling, and servers that send what nobody asked for."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import NoReturn

import pytest

from coordinator_server.client import (
    AuthenticationFailed,
    Closed,
    ConnectionFailed,
    ConnectionSettings,
    Sasl,
    TimedOut,
    Unavailable,
)
from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.connection import Connection, open_connection
from coordinator_server.client.environment import Environment
from coordinator_server.client.network import GroupLink, Network
from protocol.error_codes import ErrorCode
from protocol.messages.api_versions import ApiVersionsRequest
from protocol.messages.find_coordinator import FindCoordinatorRequest
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.metadata import MetadataRequest, MetadataResponse
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from tests.support.recording_coordinator import SETTINGS, RecordingCoordinator
from tests.support.scripted_coordinator import ADDRESS, NEVER, ScriptedCoordinator
from tests.support.virtual_time import run_virtual

PLAIN = ConnectionSettings("coordinator:9092", sasl=Sasl("user", "secret", "PLAIN"))


async def connected(server: ScriptedCoordinator, settings: ConnectionSettings = SETTINGS) -> Connection:
    return await open_connection(ADDRESS, settings, server.environment)


def test_credentials_are_sent_before_anything_else() -> None:
    async def play() -> None:
        server = ScriptedCoordinator()
        connection = await connected(server, PLAIN)
        connection.close()

        assert server.asked(SaslHandshakeRequest)[0].mechanism == "PLAIN"
        assert server.asked(SaslAuthenticateRequest)[0].auth_bytes == b"\0user\0secret"

    run_virtual(play())


def test_refused_credentials_are_no_reason_to_retry() -> None:
    async def play() -> None:
        server = ScriptedCoordinator()
        refused = SaslAuthenticateResponse(ErrorCode.SASL_AUTHENTICATION_FAILED, "wrong")
        server.script[SaslAuthenticateRequest].append(refused)
        async with RecordingCoordinator(PLAIN, environment=server.environment) as member:
            with pytest.raises(AuthenticationFailed, match="wrong"):
                await member.ensure_active_group()

        assert len(server.asked(SaslAuthenticateRequest)) == 1
        assert not server.connections

    run_virtual(play())


def test_a_mechanism_that_the_server_lacks_names_those_that_it_has() -> None:
    async def play() -> None:
        server = ScriptedCoordinator()
        answer = SaslHandshakeResponse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, ["GSSAPI"])
        server.script[SaslHandshakeRequest].append(answer)
        with pytest.raises(AuthenticationFailed, match="accepts GSSAPI, not PLAIN"):
            await connected(server, PLAIN)

    run_virtual(play())


def test_a_server_that_throttles_is_left_alone_for_so_long() -> None:
    """KIP-219: it has answered, and the next request waits here."""

    async def play() -> None:
        server = ScriptedCoordinator()
        connection = await connected(server)
        server.script[HeartbeatRequest].append(HeartbeatResponse(throttle_time_ms=2000))
        for _ in range(2):
            await connection.request(HeartbeatRequest(), HeartbeatResponse, 5)
        connection.close()

        first, second = server.times(HeartbeatRequest)
        assert 2 <= second - first < 2.1

    run_virtual(play())


def test_an_overdue_response_closes_the_connection() -> None:
    async def play() -> None:
        server = ScriptedCoordinator()
        connection = await connected(server)
        server.script[HeartbeatRequest].append(NEVER)
        waiting = asyncio.create_task(connection.request(HeartbeatRequest(), HeartbeatResponse, 60))
        server.script[MetadataRequest].append(NEVER)
        with pytest.raises(TimedOut, match="Metadata within 1 s"):
            await connection.request(MetadataRequest(), MetadataResponse, 1)

        assert connection.is_closed
        with pytest.raises(TimedOut):
            await waiting

    run_virtual(play())


def test_the_response_of_a_cancelled_request_is_dropped() -> None:
    """The connection goes on, and the next response belongs to the next request."""

    async def play() -> None:
        server = ScriptedCoordinator()
        connection = await connected(server)
        server.script[HeartbeatRequest] += [HeartbeatResponse(error_code=1), HeartbeatResponse(error_code=2)]
        cancelled = asyncio.create_task(connection.request(HeartbeatRequest(), HeartbeatResponse, 5))
        await asyncio.sleep(0)
        cancelled.cancel()
        answer = await connection.request(HeartbeatRequest(), HeartbeatResponse, 5)
        connection.close()

        assert answer.error_code == 2

    run_virtual(play())


@pytest.mark.parametrize(
    "data",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", struct.pack(">i", -5), struct.pack(">ii", 4, 99), struct.pack(">ih", 2, 1)],
    ids=["http", "length", "correlation id", "short"],
)
def test_bytes_that_are_not_kafkas_protocol_close_the_connection(data: bytes) -> None:
    async def play() -> None:
        server = ScriptedCoordinator()
        connection = await connected(server)
        server.script[HeartbeatRequest].append(NEVER)
        waiting = asyncio.create_task(connection.request(HeartbeatRequest(), HeartbeatResponse, 5))
        await asyncio.sleep(0.1)
        server.connections[0].send(data)

        with pytest.raises(ConnectionFailed):
            await waiting
        assert not server.connections

    run_virtual(play())


def test_a_response_that_cannot_be_decoded_fails_its_request() -> None:
    async def play() -> None:
        server = ScriptedCoordinator()
        connection = await connected(server)
        server.script[HeartbeatRequest].append(NEVER)
        waiting = asyncio.create_task(connection.request(HeartbeatRequest(), HeartbeatResponse, 5))
        await asyncio.sleep(0.1)
        # ApiVersions had the correlation id 1; the response is too short.
        server.connections[0].send(struct.pack(">iib", 5, 2, 0))

        with pytest.raises(ConnectionFailed, match="not Kafka's protocol"):
            await waiting

    run_virtual(play())


@pytest.mark.parametrize("newest", [0, 2, 3, 4])
def test_versions_are_negotiated(newest: int) -> None:
    """A server that does not know the version of ApiVersions says which ones it knows (KIP-511), or nothing."""

    async def play() -> None:
        server = ScriptedCoordinator()
        server.limit(ApiVersions=newest, Heartbeat=1)
        connection = await connected(server)
        connection.close()

        assert connection.version_of(HeartbeatRequest) == 1
        assert len(server.asked(ApiVersionsRequest)) == 1

    run_virtual(play())


@pytest.mark.parametrize("newest", [0, 3, 4])
def test_the_coordinator_is_found_at_every_version(newest: int) -> None:
    """As of version 4 it is asked for by a list (KIP-699)."""

    async def play() -> None:
        server = ScriptedCoordinator()
        server.limit(FindCoordinator=newest)
        async with RecordingCoordinator(environment=server.environment) as member:
            await member.ensure_active_group()

        [request] = server.asked(FindCoordinatorRequest)
        assert (request.key, request.coordinator_keys) == (("", ["g"]) if newest == 4 else ("g", []))

    run_virtual(play())


def test_a_server_that_does_not_say_its_versions_is_left() -> None:
    """In the time that a connection may take."""

    async def play() -> None:
        server = ScriptedCoordinator()
        server.script[ApiVersionsRequest].append(NEVER)
        with pytest.raises(TimedOut):
            await connected(server)

        assert asyncio.get_running_loop().time() == pytest.approx(SETTINGS.connect_timeout_s)
        assert not server.connections

    run_virtual(play())


def test_who_is_closed_connects_to_nothing() -> None:
    async def play() -> None:
        server = ScriptedCoordinator()
        network = Network(SETTINGS, server.environment)
        network.close()
        with pytest.raises(Closed):
            await network.connect(ADDRESS)

        assert not server.requests

    run_virtual(play())


def test_a_connection_that_is_opened_during_the_close_is_closed() -> None:
    async def play() -> None:
        server = ScriptedCoordinator()
        network = Network(SETTINGS, server.environment)
        connecting = asyncio.create_task(network.connect(ADDRESS))
        await asyncio.sleep(0)
        network.close()
        with pytest.raises(Closed):
            await connecting

        assert not server.connections

    run_virtual(play())


def test_a_coordinator_that_is_forgotten_is_asked_nothing() -> None:
    """A second connection to it was being opened meanwhile."""

    async def play() -> None:
        server = ScriptedCoordinator()
        server.script[HeartbeatRequest].append(NEVER)
        network = Network(SETTINGS, server.environment)
        link = GroupLink(network, "g")
        parked = asyncio.create_task(link.call(HeartbeatRequest("g"), HeartbeatResponse, 5, is_parked=True))
        await asyncio.sleep(0.1)
        beside = asyncio.create_task(link.call(HeartbeatRequest("g"), HeartbeatResponse, 5))
        await asyncio.sleep(0)
        link.forget("it moves")
        with pytest.raises(ConnectionFailed):
            await beside
        with pytest.raises(ConnectionFailed):
            await parked

        assert len(server.asked(HeartbeatRequest)) == 1
        assert not server.connections

    run_virtual(play())


def test_a_coordinator_that_does_not_serve_is_said_with_its_causes() -> None:
    """As on a full disk: the error's name alone does not say what to look at."""

    async def play() -> None:
        server = ScriptedCoordinator()
        settings = ConnectionSettings("coordinator:9092", api_timeout_s=0.5)
        refused = HeartbeatResponse(error_code=ErrorCode.NOT_COORDINATOR)
        server.script[HeartbeatRequest] += [refused] * 50
        async with Cluster(settings, server.environment) as cluster:
            with pytest.raises(
                Unavailable, match="failed: NOT_COORDINATOR: it loads, moves, or cannot write to its log"
            ) as failed:
                await cluster.ask_coordinator("g", HeartbeatRequest("g"), HeartbeatResponse, lambda answer: [answer.error_code])
        assert failed.value.code is ErrorCode.NOT_COORDINATOR

    run_virtual(play())


def test_every_bootstrap_server_is_tried() -> None:
    async def play() -> None:
        server = ScriptedCoordinator()
        settings = ConnectionSettings(["dead:1", "coordinator:9092", "dead:2"])
        async with RecordingCoordinator(settings, environment=server.environment) as member:
            await member.ensure_active_group()
        gone = ConnectionSettings(["dead:1", "dead:2"])
        async with RecordingCoordinator(gone, environment=server.environment) as member:
            with pytest.raises(Unavailable, match=r"dead:1.*dead:2|dead:2.*dead:1"):
                await member.ensure_active_group(timeout_s=1)

    run_virtual(play())


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (ConnectionRefusedError(111, "Connect call failed ('10.0.0.1', 9092)"), "Connection refused; is a server running there?"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
    ],
)
def test_a_server_that_cannot_be_reached_is_a_reason_without_numbers(failure: OSError, says: str) -> None:
    async def connect(*_: object) -> NoReturn:
        raise failure

    environment = Environment(connect=connect)

    with pytest.raises(ConnectionFailed) as error:
        run_virtual(open_connection(ADDRESS, SETTINGS, environment))

    assert str(error.value) == f"{ADDRESS} could not be reached: {says}"


def test_no_server_is_one_warning_until_it_is_back(caplog: pytest.LogCaptureFixture) -> None:
    """A program with a wrong address would say nothing otherwise: ``run`` goes on for ever."""

    async def play() -> None:
        server = ScriptedCoordinator()
        network = Network(SETTINGS, server.environment)
        link = GroupLink(network, "g")
        for _ in range(2):
            server.is_down = True
            for _ in range(2):
                with pytest.raises(Unavailable):
                    await link.ready_within(7)
            server.is_down = False
            await link.ready_within(7)
            link.forget("the test says so")
        network.close()

    run_virtual(play())

    warned = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert len(warned) == 2
    for each in warned:
        assert each.startswith("group g: coordinator not found, trying again: no server could be reached: coordinator:9092 ")
