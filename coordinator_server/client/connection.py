"""One TCP connection: frames, correlation ids, versions and deadlines.

The connection is an asyncio protocol without a task of its own. Requests may be sent while others wait. A caller that is cancelled
or times out leaves its request behind; the response is dropped when it comes. ``request`` closes a connection whose response is
overdue: a server answers in order, so nothing behind it would come in time.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from struct import Struct as Layout
from typing import TypeVar

from coordinator_server.client.apis import APIS
from coordinator_server.client.environment import Environment
from coordinator_server.client.errors import (
    AuthenticationFailed,
    ClientError,
    ConnectionFailed,
    TimedOut,
    UnsupportedVersion,
    known_code,
    refusal,
)
from coordinator_server.client.sasl import bearer, exchange
from coordinator_server.client.settings import Address, ConnectionSettings, OAuthBearer
from protocol.api import API_VERSIONS_KEY, Api
from protocol.codec import decoder, encoder
from protocol.error_codes import ErrorCode
from protocol.errors import DecodeError, EncodeError
from protocol.fields import Message
from protocol.frames import FrameSplitter
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.headers import RequestHeader, ResponseHeader
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

R = TypeVar("R", bound=Message)

# As Java's clients, which take a random part of a session between 0.85 and 0.95.
_RENEWED = 0.9
_WAITS_FOR_KEYS_S = (0.2, 0.5, 1.0)
# Servers take no second authentication within a second.
_RENEWED_AFTER_S = 1.0
_INT32 = Layout(">i")
_ID_AND_ERROR = Layout(">ih")
_SOFTWARE = "coordinator-server-client"
_PLAIN_ADVICE = "does this listener want TLS? Then set security.protocol to SSL or SASL_SSL"
_TLS_ADVICE = "does this listener have TLS? If not, set security.protocol to PLAINTEXT or SASL_PLAINTEXT"
_NO_CERTIFICATE_ADVICE = "does this listener want a certificate of the client? Then set ssl.keystore.location"


@dataclass(eq=False)
class _Pending:
    api: Api
    version: int
    is_parked: bool
    response: asyncio.Future[Message]


class Connection(asyncio.Protocol):
    """A connection to one server. ``open_connection`` makes one that is ready for requests."""

    def __init__(
        self, address: Address, settings: ConnectionSettings, environment: Environment, apis: Mapping[type[Message], Api] = APIS
    ) -> None:
        self.address = address
        self.is_closed = False
        self.versions: dict[int, tuple[int, int]] = {}
        """The server's lowest and highest version by API key."""
        self._settings = settings
        self._apis = apis
        self._now_s = environment.now_s
        self._splitter = FrameSplitter(settings.max_response_bytes)
        self._transport: asyncio.Transport | None = None
        self._pending: dict[int, _Pending] = {}
        self._correlation_id = 0
        self._silent_until_s = 0.0
        # When to authenticate again; None: the session does not end.
        self._renew_s: float | None = None
        self._renewing = asyncio.Lock()

    @property
    def has_parked(self) -> bool:
        """Return whether the server may hold back all further responses: it parks a request until others have joined."""
        return any(each.is_parked for each in self._pending.values())

    def version_of(self, request: type[Message]) -> int:
        """Return the highest version that both sides know. Raises UnsupportedVersion."""
        api = self._apis[request]
        low, high = self.versions.get(api.key, (0, -1))
        version = min(high, api.max_version)
        if version < max(low, api.min_version):
            known, has = f"{api.min_version} to {api.max_version}", f"{low} to {high}" if high >= low else "none"
            raise UnsupportedVersion(f"{self.address} serves {api.name} in versions {has}, this client knows {known}")
        return version

    async def request(self, message: Message, response: type[R], timeout_s: float, *, is_parked: bool = False) -> R:
        """Send a request and return its response. Raises ClientError; TimedOut also closes the connection."""
        while self._renewing.locked() or (self._renew_s is not None and self._now_s() >= self._renew_s and not self.has_parked):
            await self._renew(timeout_s)
        return await self._ask(message, response, timeout_s, is_parked)

    def close(self, error: ClientError | None = None) -> None:
        """Close it at once. Requests that wait fail with ``error``."""
        self.is_closed = True
        if self._transport is not None:
            self._transport.abort()
        pending, self._pending = self._pending, {}
        for each in pending.values():
            if not each.response.done():
                each.response.set_exception(error or ConnectionFailed(f"the connection to {self.address} was closed"))

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if self.is_closed:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._splitter.feed(data):
                self._received(frame)
        except DecodeError as error:
            self.close(ConnectionFailed(f"{self.address} sent bytes that are not Kafka's protocol: {error}"))

    def connection_lost(self, error: Exception | None) -> None:
        what = f"the connection to {self.address} broke: {error or 'closed by the server'}"
        if not self.versions:
            # The server has not answered anything, so it may not have understood anything.
            what += f"; {_PLAIN_ADVICE if self._settings.ssl is None else _NO_CERTIFICATE_ADVICE}"
        self.close(ConnectionFailed(what))

    # How a connection begins.

    async def begin(self) -> None:
        """Learn the server's versions, and authenticate."""
        timeout_s = self._settings.connect_timeout_s
        asked = ApiVersionsRequest(_SOFTWARE, "1")
        answer = await self._exchange(asked, ApiVersionsResponse, self._apis[ApiVersionsRequest].max_version, timeout_s)
        if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
            # The server does not know the version and has answered in version 0, with its own versions since Kafka 2.4 (KIP-511).
            own = {each.api_key: each.max_version for each in answer.api_keys}
            answer = await self._exchange(asked, ApiVersionsResponse, min(own.get(API_VERSIONS_KEY, 0), 3), timeout_s)
        if answer.error_code:
            raise refusal("ApiVersions", known_code(answer.error_code))
        self.versions = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
        if self._settings.sasl is not None:
            await self._authenticate(await self._credential(), timeout_s)

    async def _credential(self) -> str:
        """Return the token of OAUTHBEARER, and of other mechanisms nothing. Raises ClientError."""
        sasl = self._settings.sasl
        return await asyncio.to_thread(sasl.tokens.token) if isinstance(sasl, OAuthBearer) else ""

    async def _authenticate(self, token: str, timeout_s: float) -> None:
        sasl = self._settings.sasl
        assert sasl is not None
        who = "the token" if isinstance(sasl, OAuthBearer) else repr(sasl.username)
        handshake = await self._ask(SaslHandshakeRequest(sasl.mechanism), SaslHandshakeResponse, timeout_s)
        if handshake.error_code:
            offered = ", ".join(handshake.mechanisms)
            code = known_code(handshake.error_code)
            raise AuthenticationFailed(f"{self.address} accepts {offered}, not {sasl.mechanism}", code)
        steps = bearer(sasl, token) if isinstance(sasl, OAuthBearer) else exchange(sasl)
        message = next(steps)
        while True:
            answer = await self._ask(SaslAuthenticateRequest(message), SaslAuthenticateResponse, timeout_s)
            if answer.error_code:
                reason = f"{self.address} refused {who}: {answer.error_message}"
                raise AuthenticationFailed(reason, known_code(answer.error_code))
            try:
                message = steps.send(answer.auth_bytes)
            except StopIteration:
                break
        lifetime_s = answer.session_lifetime_ms / 1000
        self._renew_s = self._now_s() + max(_RENEWED * lifetime_s, _RENEWED_AFTER_S) if lifetime_s else None

    async def _renew(self, timeout_s: float) -> None:
        """Authenticate again before the session ends (KIP-368). Nothing else is sent meanwhile."""
        async with self._renewing:
            if self._renew_s is None or self._now_s() < self._renew_s or self.has_parked:
                return
            try:
                token = await self._credential()
            except ConnectionFailed:
                # The issuer is away: what is held may still do, and the server says when it does not.
                self._renew_s = self._now_s() + self._settings.retry_backoff_max_s
                return
            try:
                await self._authenticate(token, timeout_s)
            except ClientError as error:
                self.close(error)
                raise

    async def _ask(self, message: Message, response: type[R], timeout_s: float, is_parked: bool = False) -> R:
        return await self._exchange(message, response, self.version_of(type(message)), timeout_s, is_parked)

    async def _exchange(self, message: Message, response: type[R], version: int, timeout_s: float, is_parked: bool = False) -> R:
        try:
            async with asyncio.timeout(timeout_s):
                if (wait_s := self._silent_until_s - self._now_s()) > 0:
                    await asyncio.sleep(wait_s)
                answer = await self._send(message, version, is_parked)
        except TimeoutError:
            error = TimedOut(f"{self.address} has not answered {self._apis[type(message)].name} within {timeout_s:g} s")
            self.close(error)
            raise error from None
        assert isinstance(answer, response)
        return answer

    def _send(self, message: Message, version: int, is_parked: bool) -> asyncio.Future[Message]:
        if self.is_closed or self._transport is None:
            raise ConnectionFailed(f"the connection to {self.address} is closed")
        api = self._apis[type(message)]
        self._correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        header = RequestHeader(api.key, version, self._correlation_id, self._settings.client_id)
        out = bytearray(_INT32.size)
        encoder(RequestHeader, api.request_header_version(version))(header, out)
        try:
            encoder(type(message), version)(message, out)
        except EncodeError as error:
            raise UnsupportedVersion(
                f"{self.address} serves {api.name} up to version {version}, which cannot carry this: {error}"
            ) from None
        _INT32.pack_into(out, 0, len(out) - _INT32.size)
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._pending[self._correlation_id] = _Pending(api, version, is_parked, future)
        self._transport.write(out)
        return future

    def _received(self, frame: bytes) -> None:
        correlation_id = _INT32.unpack_from(frame)[0] if len(frame) >= _INT32.size else -1
        pending = self._pending.get(correlation_id)
        if pending is None:
            self.close(ConnectionFailed(f"{self.address} answered something that was not asked"))
            return
        api, version = pending.api, pending.version
        if api.key == API_VERSIONS_KEY and frame[4:6] == _UNSUPPORTED:
            version = 0
        _, pos = decoder(ResponseHeader, api.response_header_version(version))(frame, 0)
        message, _ = decoder(api.response, version)(frame, pos)
        del self._pending[correlation_id]
        # A broker that throttles this client answers first, and takes no request for so long (KIP-219).
        if throttle_ms := getattr(message, "throttle_time_ms", 0):
            self._silent_until_s = self._now_s() + throttle_ms / 1000
        if not pending.response.done():
            pending.response.set_result(message)


_UNSUPPORTED = _ID_AND_ERROR.pack(0, ErrorCode.UNSUPPORTED_VERSION)[4:]


async def open_connection(
    address: Address, settings: ConnectionSettings, environment: Environment, apis: Mapping[type[Message], Api] = APIS
) -> Connection:
    """Return a connection that is ready for requests: those of ``apis``, by the class of the request. Raises ClientError.

    A server that does not know the key of a token yet closes without an answer, and fetches it: it is asked again.
    """
    connection = Connection(address, settings, environment, apis)
    waits_s = list(_WAITS_FOR_KEYS_S) if isinstance(settings.sasl, OAuthBearer) else []
    try:
        async with asyncio.timeout(settings.connect_timeout_s):
            while True:
                try:
                    await environment.connect(_given(connection), address, settings.ssl)
                    await connection.begin()
                except ConnectionFailed:
                    # With versions the server has answered something: it closed in the login.
                    if not connection.versions or not waits_s:
                        raise
                    connection.close()
                    connection = Connection(address, settings, environment, apis)
                    await asyncio.sleep(waits_s.pop(0))
                else:
                    return connection
    except TimeoutError:
        connection.close()
        raise TimedOut(f"{address} could not be reached within {settings.connect_timeout_s:g} s") from None
    except OSError as error:
        connection.close()
        raise _connect_error(address, error, settings) from error
    except BaseException:
        connection.close()
        raise


def _given(connection: Connection) -> Callable[[], Connection]:
    return lambda: connection


def _connect_error(address: Address, error: OSError, settings: ConnectionSettings) -> ClientError:
    if type(error).__name__ == "SSLCertVerificationError":
        return AuthenticationFailed(f"the certificate of {address} is not valid: {error}")
    # Of a connection that was made: the peer ended it in the handshake.
    is_handshake = settings.ssl is not None and isinstance(error, ssl.SSLError | ConnectionResetError | ConnectionAbortedError)
    what = _reason(error)
    return ConnectionFailed(f"{address} could not be reached: {what}{f'; {_TLS_ADVICE}' if is_handshake else ''}")


def _reason(error: OSError) -> str:
    """Return the reason alone: asyncio's text has the number and the address of the peer, too."""
    if isinstance(error, ConnectionRefusedError):
        return f"{os.strerror(errno.ECONNREFUSED)}; is a server running there?"
    return (isinstance(error, socket.gaierror) and error.strerror) or str(error) or type(error).__name__
