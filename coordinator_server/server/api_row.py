"""The row of the API table: everything the server needs to serve one API.

Each row is defined next to its handler in ``server/apis``; ``server/table.py`` lists all rows. The type variables are the
handler's request and response, so the type checker rejects a row with inconsistent parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.server.access import ApiAccess
from coordinator_server.server.error_counts import error_counter
from coordinator_server.server.node import Node
from coordinator_server.server.order import Order
from coordinator_server.server.reply import PendingReply
from coordinator_server.server.served_api import Handle, ServedApi, Touched
from coordinator_server.server.tally import Tally
from protocol.api import APIS
from protocol.codec import decoder, encoder
from protocol.error_codes import ErrorCode

Q = TypeVar("Q")
R = TypeVar("R")

Handler: TypeAlias = Callable[[Node, RequestContext, Q, PendingReply[R]], Repeat | None]
"""Runs one request and answers the reply, now or later. May raise CoordinatorError.

Returns what answers the same request of the same connection once more, if there is a short way to that."""

Refusal: TypeAlias = Callable[[RequestContext, Q, ErrorCode, str | None], R]
"""Returns the response that refuses a whole request, in the form of the request's API version."""


class ShortWay(NamedTuple, Generic[Q, R]):
    """Fast codecs for the usual requests and responses of an API, without message objects.

    ``reader`` takes a version and returns a decoder for the requests of one connection; None: always use the general one.
    ``encoder`` wraps the encoder of the API's response.
    """

    reader: Callable[[int], Callable[[bytes, int], tuple[Q, int]]] | None
    encoder: Callable[[Callable[[Any, bytearray], None]], Callable[[R, bytearray], None]]


class ApiRow(Struct, Generic[Q, R], frozen=True):
    """A row of the API table. The declarations ``request`` and ``response`` have the API's key, name and versions."""

    request: type[Q]
    response: type[R]
    handle: Handler[Q, R]
    refuse: Refusal[Q, R]
    order: Order
    short_way: ShortWay[Q, R] | None = None
    can_read_behind_writes: bool = False
    """Of a READ: its handler can include the effects of unanswered WRITEs, if ``PendingReply.is_behind_writes`` is set."""
    units_per_byte: int = 32
    """What a request of more than a few hundred bytes costs, in units of the connection's quantum. The default is for requests that
    consist of nothing but the smallest elements: 0.25 us per byte, to decode and to handle."""
    overtakes: frozenset[str] = frozenset()
    """Names of APIs whose unanswered requests do not delay this one."""
    touches: Callable[[Q], Touched] | None = None
    """Of an API that is ALONE: what a request touches. It does not wait for unanswered ones that touch other things."""
    access: ApiAccess[Q] | None = None
    """What a principal needs, where an authorizer is configured. Every served API has it: a server with an authorizer does not start with
    a row without one."""


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
        row.order,
        row.can_read_behind_writes,
        row.units_per_byte,
        row.overtakes,
        row.touches,
        error_counter(row.response),
        [Tally() for _ in versions],
        None if short is None else short.reader,
    )
