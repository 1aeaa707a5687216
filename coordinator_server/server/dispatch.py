"""From a frame to its handler: one table row per API that is served."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import structlog
from msgspec import Struct

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import request_origin
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.connection import Connection, PendingReply, UnservedRequest
from protocol import api as protocol_api
from protocol.codec import decoder, encoder
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.frames import decode_request_header
from protocol.messages.api_versions import ApiVersionsRequest

log = structlog.get_logger(__name__)

API_VERSIONS_KEY = 18


class Handle(Protocol):
    """Runs one request; the reply is answered now or later. May raise CoordinatorError."""

    def __call__(self, context: RequestContext, request: Any, reply: PendingReply, /) -> None: ...


class Refuse(Protocol):
    """The response that says no to the whole request, as this API says it at this version."""

    def __call__(self, context: RequestContext, request: Any, error: ErrorCode, message: str | None, /) -> Message: ...


class Api(Struct, frozen=True):
    """A row: what it takes to serve an API. The sequences are indexed by version."""

    key: int
    name: str
    min_version: int
    max_version: int
    decode: Sequence[Callable[[bytes, int], tuple[Any, int]]]
    encode: Sequence[Callable[[Any, bytearray], None]]
    has_flexible_response_header: Sequence[bool]
    handle: Handle
    refuse: Refuse

    @classmethod
    def of(cls, api: protocol_api.Api, handle: Handle, refuse: Refuse) -> Api:
        """The row of an API at all the versions we serve it."""
        versions = range(api.max_version + 1)
        served = [max(version, api.min_version) for version in versions]
        return cls(
            api.key,
            api.name,
            api.min_version,
            api.max_version,
            [decoder(api.request, version) for version in served],
            [encoder(api.response, version) for version in served],
            [api.response_header_version(version) == 1 for version in served],
            handle,
            refuse,
        )


class LoggedReply(PendingReply):
    """At debug level: one line for each request, when it is answered."""

    __slots__ = ("_started",)

    def __init__(self, connection: Connection, api: Api, context: RequestContext, correlation_id: int, request: Any) -> None:
        super().__init__(connection, api, context, correlation_id, request)
        self._started = time.monotonic()

    def encode(self, response: Any, out: bytearray) -> None:
        """Append the response's frame, and say so."""
        super().encode(response, out)
        log.debug(
            "request",
            api=self.api.name,
            version=self.context.api_version,
            client_id=self.context.client_id,
            peer=f"{self.connection.peer_host}:{self.connection.peer_port}",
            group_id=getattr(self.request, "group_id", None),
            error=ErrorCode(getattr(response, "error_code", 0)).name,
            ms=round((time.monotonic() - self._started) * 1000, 1),
        )


class Dispatcher:
    """The table, and the way through it."""

    def __init__(self, apis: Sequence[Api], reply: type[PendingReply] = PendingReply, *, has_provenance: bool = False) -> None:
        self._apis = {api.key: api for api in apis}
        self._reply = reply
        self._has_provenance = has_provenance

    def __call__(self, connection: Connection, frame: bytes, /) -> None:
        """Decode one request and run it."""
        header, position = decode_request_header(frame)
        version = header.request_api_version
        api = self._apis.get(header.request_api_key)
        if api is None:
            raise UnservedRequest(f"API key {header.request_api_key} is not served")
        client_id = header.client_id or ""
        if not api.min_version <= version <= api.max_version:
            if api.key == API_VERSIONS_KEY:
                self._answer_unknown_version(connection, api, client_id, header.correlation_id)
                return
            raise UnservedRequest(f"{api.name} v{version} is not served, only v{api.min_version} to v{api.max_version}")
        context = connection.contexts.get(frame[:4])
        if context is None or context.client_id != client_id:
            context = self._introduce(connection, frame[:4], client_id, api.key, version)
        request, _ = api.decode[version](frame, position)
        reply = self._reply(connection, api, context, header.correlation_id, request)
        connection.expect(reply)
        try:
            api.handle(context, request, reply)
        except CoordinatorError as refused:
            reply.fail(refused.error, refused.message)
        except Exception:
            log.exception("request-failed", api=api.name, version=version)
            if not reply.is_answered:
                reply.fail(ErrorCode.UNKNOWN_SERVER_ERROR)

    def _introduce(self, connection: Connection, kind: bytes, client_id: str, api_key: int, version: int) -> RequestContext:
        """The context of a connection's requests of one API version: made once, unless the client changes its name."""
        origin = request_origin(api_key, version, client_id, connection.peer_host) if self._has_provenance else None
        context = RequestContext(client_id, connection.peer_host, api_key, version, origin=origin)
        connection.contexts[kind] = context
        return context

    def _answer_unknown_version(self, connection: Connection, api: Api, client_id: str, correlation_id: int) -> None:
        """A newer client learns from the answer, in version 0, what to use instead (KIP-511)."""
        oldest = RequestContext(client_id, connection.peer_host, api.key, 0)
        reply = PendingReply(connection, api, oldest, correlation_id, ApiVersionsRequest())
        connection.expect(reply)
        reply.fail(ErrorCode.UNSUPPORTED_VERSION)
