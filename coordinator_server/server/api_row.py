"""The row of the API table: everything the server needs to serve one API.

Each row is defined next to its handler in ``server/apis``; ``server/table.py`` lists all rows. The type variables are the
handler's request and response, so the type checker rejects a row with inconsistent parts.
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
"""Runs one request and answers the reply, now or later. May raise CoordinatorError."""

Refusal: TypeAlias = Callable[[RequestContext, Q, ErrorCode, str | None], R]
"""Returns the response that refuses a whole request, in the form of the request's API version."""


class Order(Enum):
    """The class of requests among which an API's request may start before earlier ones are answered, as if in Kafka's order.

    Kafka runs the requests of a connection one at a time. Starting a request before earlier ones are answered gives the same
    result if all of them are FREE, or if all have its own class and that class is not ALONE. This is only a declaration: the
    dispatcher never delays a request because of it.
    """

    FREE = "free"
    """It depends on nothing that a request can change, and changes nothing."""
    READ = "read"
    """It is answered from durable state and changes nothing that a later request depends on."""
    WRITE = "write"
    """Its effect is complete when the handler returns; only its answer waits for the log."""
    ALONE = "alone"
    """It waits for other clients, acts later, or takes effect in more than one shard or loop."""


class ShortWay(NamedTuple, Generic[Q, R]):
    """Fast codecs for the usual requests and responses of an API, without message objects.

    ``reader`` takes a version and returns a decoder for the requests of one connection. ``encoder`` wraps the encoder of the
    API's response.
    """

    reader: Callable[[int], Callable[[bytes, int], tuple[Q, int]]]
    encoder: Callable[[Callable[[Any, bytearray], None]], Callable[[R, bytearray], None]]


class ApiRow(Struct, Generic[Q, R], frozen=True):
    """A row of the API table. The declarations ``request`` and ``response`` have the API's key, name and versions."""

    request: type[Q]
    response: type[R]
    handle: Handler[Q, R]
    refuse: Refusal[Q, R]
    order: Order
    short_way: ShortWay[Q, R] | None = None


def serve_row(row: ApiRow[Any, Any], handle: Handle) -> ServedApi:
    """Return the API with codecs for all served versions. ``handle`` is the row's handler bound to the node."""
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
