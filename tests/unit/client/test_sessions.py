"""The login of a connection: again before its session ends, and again where the server closed because it could not decide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from coordinator_server.client import (
    AuthenticationFailed,
    ConnectionFailed,
    ConnectionSettings,
    OAuthBearer,
    Sasl,
)
from coordinator_server.client.connection import Connection, open_connection
from coordinator_server.client.environment import Environment
from protocol.codec import encoder
from protocol.error_codes import ErrorCode
from protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.metadata import MetadataRequest, MetadataResponse
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.recording_coordinator import SETTINGS
from tests.support.scripted_coordinator import ADDRESS, NEVER, ScriptedCoordinator
from tests.support.virtual_time import run_virtual

PLAIN = ConnectionSettings("coordinator:9092", sasl=Sasl("user", "secret", "PLAIN"))


async def connected(server: ScriptedCoordinator, settings: ConnectionSettings = SETTINGS) -> Connection:
    return await open_connection(ADDRESS, settings, server.environment)


class Given:
    """A source with one token, which is there at once."""

    def token(self) -> str:
        return "a.b.c"


async def test_a_server_that_does_not_know_the_key_of_a_token_yet_is_asked_again() -> None:
    """It closes in the login, without an answer, and fetches its keys meanwhile. The last error is raised in the end."""
    opened: list[Closing] = []

    class Closing(asyncio.Transport):
        """Answers ApiVersions, and closes at the next request."""

        def __init__(self, protocol: asyncio.BaseProtocol) -> None:
            super().__init__()
            assert isinstance(protocol, Connection)
            self.protocol = protocol

        def write(self, _data: bytes | bytearray | memoryview) -> None:
            loop = asyncio.get_running_loop()
            if self.protocol.versions:
                loop.call_soon(self.protocol.connection_lost, None)
                return
            known = [ApiVersion(key, 0, 1) for key in (17, 18, 36)]
            out = bytearray((1).to_bytes(4))
            encoder(ApiVersionsResponse, 3)(ApiVersionsResponse(api_keys=known), out)
            loop.call_soon(self.protocol.data_received, len(out).to_bytes(4) + bytes(out))

        def abort(self) -> None:
            """Nothing is open."""

    async def connect(protocol: Callable[[], asyncio.BaseProtocol], _address: object, _tls: object) -> asyncio.BaseTransport:
        made = protocol()
        opened.append(Closing(made))
        made.connection_made(opened[-1])
        return opened[-1]

    settings = ConnectionSettings("coordinator:9092", sasl=OAuthBearer(Given()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coordinator_server.client.connection._WAITS_FOR_KEYS_S", (0.0, 0.0))
        with pytest.raises(ConnectionFailed, match="closed by the server"):
            await open_connection(ADDRESS, settings, Environment(connect=connect))

    assert len(opened) == 3


def test_a_session_is_renewed_before_it_ends() -> None:
    """In the same connection (KIP-368), by the first request after nine tenths of it; requests that come meanwhile wait."""

    async def play() -> None:
        server = ScriptedCoordinator()
        server.script[SaslAuthenticateRequest] += [SaslAuthenticateResponse(session_lifetime_ms=10_000)] * 2
        connection = await connected(server, PLAIN)
        for wait_s in (8.9, 0.2):
            await asyncio.sleep(wait_s)
            beats = [connection.request(HeartbeatRequest(), HeartbeatResponse, 5) for _ in range(3)]
            await asyncio.gather(*beats)
        connection.close()

        assert len(server.times(HeartbeatRequest)) == 6
        first, second = server.times(SaslAuthenticateRequest)
        assert 9 <= second - first < 9.2
        assert server.times(HeartbeatRequest)[3] >= second
        assert len(server.times(SaslHandshakeRequest)) == 2

    run_virtual(play())


def test_a_session_that_cannot_be_renewed_ends_the_connection() -> None:
    async def play() -> None:
        server = ScriptedCoordinator()
        refused = SaslAuthenticateResponse(ErrorCode.SASL_AUTHENTICATION_FAILED, "the user was removed")
        server.script[SaslAuthenticateRequest] += [SaslAuthenticateResponse(session_lifetime_ms=10_000), refused]
        connection = await connected(server, PLAIN)
        await asyncio.sleep(9.5)
        with pytest.raises(AuthenticationFailed, match="the user was removed"):
            await connection.request(HeartbeatRequest(), HeartbeatResponse, 5)

        assert connection.is_closed

    run_virtual(play())


def test_a_session_is_not_renewed_behind_a_request_that_waits_for_others() -> None:
    """The server would answer it later than the deadline."""

    async def play() -> None:
        server = ScriptedCoordinator()
        server.script[SaslAuthenticateRequest].append(SaslAuthenticateResponse(session_lifetime_ms=10_000))
        server.script[MetadataRequest].append(NEVER)
        connection = await connected(server, PLAIN)
        parked = asyncio.create_task(connection.request(MetadataRequest(), MetadataResponse, 60, is_parked=True))
        await asyncio.sleep(9.5)
        await connection.request(HeartbeatRequest(), HeartbeatResponse, 5)
        connection.close()

        assert len(server.asked(SaslAuthenticateRequest)) == 1
        with pytest.raises(ConnectionFailed):
            await parked

    run_virtual(play())
