"""A row of the API table: everything the server must know to serve one API.

A row stands beside its handler in ``server/apis``; ``server/table.py`` gathers all rows. The type variables are the request that the
handler takes and the response that it gives: the type checker refuses a row whose parts disagree about either of them.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.connection import PendingReply
from coordinator_server.server.node import Node
from coordinator_server.server.served_api import Handle, ServedApi
from protocol.api import APIS
from protocol.codec import decoder, encoder
from protocol.error_codes import ErrorCode

Q = TypeVar("Q")
R = TypeVar("R")

Handler: TypeAlias = Callable[[Node, RequestContext, Q, PendingReply[R]], None]
"""Runs one request; the reply is answered now or later. May raise CoordinatorError."""

Refusal: TypeAlias = Callable[[RequestContext, Q, ErrorCode, str | None], R]
"""Makes the response that refuses the whole request, as this API does it at this version."""


class Order(Enum):
    """When a request may overtake the answers to earlier ones of its connection, so that a peer sees what Kafka's order gives.

    Kafka runs a connection's requests one after the other. A request gives the same result before the earlier ones are answered when all
    of them are FREE, or when all are of its own class and that class is not ALONE. This is a declaration: the dispatcher holds no request
    back for it.
    """

    FREE = "free"
    """It depends on nothing that a request can change, and changes nothing."""
    READ = "read"
    """It is answered from durable state and changes nothing that a later request acts on."""
    WRITE = "write"
    """Its effect is complete when the handler returns, though its answer waits until the log has it."""
    ALONE = "alone"
    """It waits for other clients, acts later, or takes effect in more than one shard or loop."""


class ShortWay(NamedTuple, Generic[Q, R]):
    """Codecs for the usual requests and responses of an API that need not become message objects.

    ``reader`` takes a version and makes the decoder of one connection's requests; ``encoder`` takes the encoder of the API's response.
    """

    reader: Callable[[int], Callable[[bytes, int], tuple[Q, int]]]
    encoder: Callable[[Callable[[Any, bytearray], None]], Callable[[R, bytearray], None]]


class ApiRow(Struct, Generic[Q, R], frozen=True):
    """What it takes to serve an API. ``request`` and ``response`` are its declarations, which have its key, name and versions."""

    request: type[Q]
    response: type[R]
    handle: Handler[Q, R]
    refuse: Refusal[Q, R]
    order: Order
    short_way: ShortWay[Q, R] | None = None


def serve_row(row: ApiRow[Any, Any], handle: Handle) -> ServedApi:
    """Return the API at all the versions we serve it; ``handle`` is the row's handler with its first argument, the node."""
    api, short = APIS[row.request.kafka.key], row.short_way
    versions = range(api.max_version + 1)
    served = [max(version, api.min_version) for version in versions]
    encoders = [encoder(row.response, version) for version in served]
    return ServedApi(
        api.key,
        api.name,
        api.min_version,
        api.max_version,
        [decoder(row.request, version) for version in served],
        [encode if short is None else short.encoder(encode) for encode in encoders],
        [api.response_header_version(version) == 1 for version in served],
        handle,
        row.refuse,
        None if short is None else short.reader,
    )
