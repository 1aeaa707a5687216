"""An API as one node serves it, and what the header of a request says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from coordinator_server.machine.shard import RequestContext
from protocol.error_codes import ErrorCode
from protocol.fields import Message


class Handle(Protocol):
    """The handler of a row, bound to this node; ``reply`` is a ``PendingReply``."""

    def __call__(self, context: RequestContext, request: Any, reply: Any, /) -> None: ...


class Refuse(Protocol):
    """The refusal of a row."""

    def __call__(self, context: RequestContext, request: Any, error: ErrorCode, message: str | None, /) -> Message: ...


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
    # Makes a decoder for the requests of one connection, given their version; None: ``decode`` has the only way.
    reader: Callable[[int], Callable[[bytes, int], tuple[Any, int]]] | None = None


class Introduction(Struct, frozen=True, gc=False):
    """What a request header says. ``rest`` is its bytes behind the correlation id, ``position`` where the request begins."""

    rest: bytes
    position: int
    api: ServedApi
    context: RequestContext
    decode: Callable[[bytes, int], tuple[Any, int]]
