"""The row of the API table: everything the server needs to serve one API.

Each row is defined next to its handler in ``server/apis``; ``server/apis/table.py`` lists all rows. The type variables are the
handler's request and response, so the type checker rejects a row with inconsistent parts. A server makes its own row of each when
it starts (``serve_row``), which has codecs for all versions, the handler bound to the server's node, and counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.server.exchange.error_counts import error_counter
from coordinator_server.server.exchange.exchange import Exchange, Handle, Observe
from coordinator_server.server.exchange.tally import Tally
from coordinator_server.server.wire.order import Order
from protocol.api import APIS
from protocol.codec import decoder, encoder
from protocol.error_codes import ErrorCode

Q = TypeVar("Q")
R = TypeVar("R")

Handler: TypeAlias = Callable[[Any, RequestContext, Q, Exchange[R]], Repeat | None]
"""Runs one request of a node, and answers its exchange, now or later. May raise CoordinatorError.

Returns what answers the same request of the same connection once more, if there is a short way to that."""

Refusal: TypeAlias = Callable[[RequestContext, Q, ErrorCode, str | None], R]
"""Returns the response that refuses a whole request, in the form of the request's API version."""

Touched = frozenset[str | int]
"""What a request depends on and changes: the names and ids of transactions and groups."""

Decode: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
Encode: TypeAlias = Callable[[Any, bytearray], None]


class ShortWay(NamedTuple, Generic[Q, R]):
    """Fast codecs for the usual requests and responses of an API, without message objects.

    ``reader`` takes a version and returns a decoder for the requests of one connection; None: always use the general one.
    ``encoder`` wraps the encoder of the API's response.
    """

    reader: Callable[[int], Callable[[bytes, int], tuple[Q, int]]] | None
    encoder: Callable[[Encode], Callable[[R, bytearray], None]]


class Unread(NamedTuple, Generic[R]):
    """How a large request is denied as a whole without decoding it, from its version, frame, and the position behind the header."""

    names: Callable[[int, bytes, int], Any]
    """Returns what the row's needs ask about, with the attributes of a request; None if these bytes are no request."""
    refuse: Callable[[int, ErrorCode, bytes, int], R | None]
    """Returns the answer that the row's ``refuse`` gives; None if the request must be decoded for that. Called in the thread."""


class Denial(NamedTuple):
    """A large request that is denied as a whole before it is decoded."""

    answer: Callable[[bytes, int], Any]
    """Takes the frame and the position behind its header. Returns the answer, or None if the request must be decoded for that.
    Called in the thread."""
    report: Callable[[], None]


DenyUnread: TypeAlias = Callable[[RequestContext, bytes, int], Denial | None]
"""Takes the frame of a large request and the position behind its header.

Returns None if the request is decoded: nothing is denied yet.
"""


class Guard(Protocol):
    """What the requests of an API need (``access.py``). A node with an authorizer asks for it."""

    def guarded(self, handle: Handle, node: Any, /) -> Handle:
        """Return a handler that runs ``handle`` for what is allowed."""

    def denying_unread(self, unread: Unread[Any], node: Any, /) -> DenyUnread:
        """Return what denies large requests before they are decoded."""


def _not_served(context: RequestContext, request: Any, exchange: Any, /) -> None:
    raise AssertionError("a row of the table is served by none")


class ApiRow(Struct, Generic[Q, R], frozen=True):
    """A row of the API table. The declarations ``request`` and ``response`` have the API's key, name and versions."""

    request: type[Q]
    response: type[R]
    handle: Handler[Q, R]
    refuse: Refusal[Q, R]
    order: Order
    short_way: ShortWay[Q, R] | None = None
    can_read_behind_writes: bool = False
    """Of a READ: its handler can include the effects of unanswered WRITEs, if ``Exchange.is_behind_writes`` is set."""
    units_per_byte: int = 32
    """What a request of more than a few hundred bytes costs, in units of the connection's quantum. The default is for requests that
    consist of nothing but the smallest elements: 0.25 us per byte, to decode and to handle."""
    overtakes: frozenset[str] = frozenset()
    """Names of APIs whose unanswered requests do not delay this one."""
    touches: Callable[[Q], Touched] | None = None
    """Of an API that is ALONE: what a request touches. It does not wait for unanswered ones that touch other things."""
    unread: Unread[R] | None = None
    access: Guard | None = None
    """What a principal needs, where an authorizer is configured. Every served API has it: a server with an authorizer does not
    start with a row without one."""

    # Of a row that is served. The sequences are indexed by version.
    key: int = -1
    name: str = ""
    min_version: int = 0
    max_version: int = -1
    decode: Sequence[Decode] = ()
    encode: Sequence[Encode] = ()
    has_flexible_response_header: Sequence[bool] = ()
    run: Handle = _not_served
    """The handler, bound to a node, with what is checked and noted before it."""
    deny_unread: DenyUnread | None = None
    """None: requests are decoded before they are denied."""
    count_errors: Callable[[Any, Tally], None] | None = None
    """Counts the errors of an answer. None: answers have none."""
    tallies: Sequence[Tally] = ()
    reader: Callable[[int], Decode] | None = None
    """Returns a decoder for one connection's requests of a version. None: always use ``decode``."""
    observers: tuple[Observe, ...] = ()
    """What observes each request."""


def serve_row(row: ApiRow[Any, Any], run: Handle, deny_unread: DenyUnread | None = None) -> ApiRow[Any, Any]:
    """Return the row as one server serves it. ``run`` is its handler, bound to a node, with what is checked and noted before it."""
    api, short = APIS[row.request.kafka.key], row.short_way
    versions = range(api.max_version + 1)
    served = [max(version, api.min_version) for version in versions]
    encoders = [encoder(row.response, version) for version in served]
    return replace(
        row,
        key=api.key,
        name=api.name,
        min_version=api.min_version,
        max_version=api.max_version,
        decode=[decoder(row.request, version) for version in served],
        encode=[encode if short is None else short.encoder(encode) for encode in encoders],
        has_flexible_response_header=[api.response_header_version(version) == 1 for version in served],
        run=run,
        deny_unread=deny_unread,
        count_errors=error_counter(row.response),
        tallies=[Tally() for _ in versions],
        reader=None if short is None else short.reader,
    )


def observed(rows: Sequence[ApiRow[Any, Any]], observe: Observe) -> list[ApiRow[Any, Any]]:
    """Return rows that are observed by one more, and share the counts of the given ones."""
    return [replace(row, observers=(*row.observers, observe)) for row in rows]
