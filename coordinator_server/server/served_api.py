"""An API as one node serves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.server.order import Order
from coordinator_server.server.tally import Tally
from protocol.error_codes import ErrorCode
from protocol.fields import Message

Touched = frozenset[str | int]
"""What a request depends on and changes: the names and ids of transactions and groups."""


class Handle(Protocol):
    """The handler of a row, bound to this node. ``reply`` is a ``PendingReply``."""

    def __call__(self, context: RequestContext, request: Any, reply: Any, /) -> Repeat | None: ...


class Refuse(Protocol):
    """The function of a row that makes the response for a refused request."""

    def __call__(self, context: RequestContext, request: Any, error: ErrorCode, message: str | None, /) -> Message: ...


class Denial(NamedTuple):
    """A large request that is denied as a whole before it is decoded."""

    answer: Callable[[bytes, int], Message | None]
    """Takes the frame and the position behind its header. Returns the answer, or None if the request must be decoded for that. Called in
    the thread."""
    report: Callable[[], None]


class ServedApi(Struct, frozen=True):
    """A row of the API table as one node serves it. The sequences are indexed by version."""

    key: int
    name: str
    min_version: int
    max_version: int
    decode: Sequence[Callable[[bytes, int], tuple[Any, int]]]
    encode: Sequence[Callable[[Any, bytearray], None]]
    has_flexible_response_header: Sequence[bool]
    handle: Handle
    refuse: Refuse
    order: Order
    can_read_behind_writes: bool = False
    units_per_byte: int = 32
    overtakes: frozenset[str] = frozenset()
    touches: Callable[[Any], Touched] | None = None
    # Counts the errors of an answer. None: answers have none.
    count_errors: Callable[[Any, Tally], None] | None = None
    tallies: Sequence[Tally] = ()
    # Returns a decoder for one connection's requests of a version. None: always use ``decode``.
    reader: Callable[[int], Callable[[bytes, int], tuple[Any, int]]] | None = None
    # Takes the frame of a large request and the position behind its header. None: requests are decoded before they are denied.
    deny_unread: Callable[[RequestContext, bytes, int], Denial | None] | None = None
