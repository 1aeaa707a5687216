"""The client of a request that one loop forwards to another."""

from __future__ import annotations

from typing import Protocol

from coordinator_server.machine.provenance import request_origin
from coordinator_server.machine.shard import RequestContext


class OfClient(Protocol):
    """A message that names the client of its request."""

    @property
    def client_id(self) -> str: ...
    @property
    def client_host(self) -> str: ...
    @property
    def api_key(self) -> int: ...
    @property
    def api_version(self) -> int: ...
    @property
    def principal(self) -> str: ...


def context_of(message: OfClient, *, has_provenance: bool) -> RequestContext:
    """Return the context of the request, as in the loop that has the client."""
    who = (message.client_id, message.client_host, message.api_key, message.api_version, message.principal)
    client_id, client_host, api_key, api_version, principal = who
    origin = request_origin(api_key, api_version, client_id, client_host, principal) if has_provenance else None
    return RequestContext(*who, origin=origin)
