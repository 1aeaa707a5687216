"""The row of the API table: everything the server needs to serve one API.

Each row is defined next to its handler in ``server/apis``; ``server/table.py`` lists all rows. The type variables are the
handler's request and response, so the type checker rejects a row with inconsistent parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.security.authorizer import Authorizer
from coordinator_server.server.access import ApiAccess
from coordinator_server.server.error_counts import error_counter
from coordinator_server.server.node import Node
from coordinator_server.server.order import Order
from coordinator_server.server.reply import PendingReply
from coordinator_server.server.served_api import Denial, Handle, ServedApi, Touched
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


class Unread(NamedTuple, Generic[R]):
    """How a large request is denied as a whole without decoding it, from its version, frame, and the position behind the header."""

    names: Callable[[int, bytes, int], Any]
    """Returns what the row's needs ask about, with the attributes of a request; None if these bytes are no request."""
    refuse: Callable[[int, ErrorCode, bytes, int], R | None]
    """Returns the answer that the row's ``refuse`` gives; None if the request must be decoded for that. Called in a thread."""


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
    unread: Unread[R] | None = None
    access: ApiAccess[Q] | None = None
    """What a principal needs, where an authorizer is configured. Every served API has it: a server with an authorizer does not start with
    a row without one."""


def serve_row(row: ApiRow[Any, Any], handle: Handle, authorizer: Authorizer | None = None) -> ServedApi:
    """Return the API with codecs for all served versions. ``handle`` is the row's handler bound to the node, and guarded."""
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
        None if row.unread is None or authorizer is None else partial(_deny_unread, row, authorizer),
    )


def _deny_unread(
    row: ApiRow[Any, Any], authorizer: Authorizer, context: RequestContext, frame: bytes, position: int
) -> Denial | None:
    """Return how a large request is denied, or None if it is decoded: its needs are met, or its first bytes are no request's."""
    assert row.unread is not None
    assert row.access is not None
    names = row.unread.names(context.api_version, frame, position)
    if names is None:
        return None
    found = row.access.unmet(authorizer, context, names)
    if found is None:
        return None
    unmet, name = found
    return Denial(
        partial(row.unread.refuse, context.api_version, unmet.error),
        partial(authorizer.report, context, unmet.operation, unmet.resource_type, (name,)),
    )
