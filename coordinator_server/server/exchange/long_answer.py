"""An answer that ends with a long list, whose elements are encoded as they are found: there are never objects for all of them.

The frame begins with its length and has the number of elements in front of them, so it is written when all are known; what is in
memory until then are its bytes, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.wire.long_write import PIECE_BYTES, Pieces
from protocol.wire import write_uvarint

R = TypeVar("R")

_COUNT = Layout(">i")


class LongAnswer(Generic[R]):
    """The answer of an exchange. ``response`` has everything but the elements of its last field, ``field``: a list of structs."""

    def __init__(self, exchange: Exchange[R], response: Any, field: str) -> None:
        row, version = exchange.row, exchange.context.api_version
        self._exchange = exchange
        self._response = response
        self._field = field
        self._encode = row.encode[version]
        self._is_flexible: bool = version in row.response.kafka.flexible
        without = bytearray()
        self._encode(response, without)
        # What is behind the list: the number of tagged fields, which is 0.
        self._end = b"\0" if self._is_flexible else b""
        self._before = len(without) - len(self._size(0)) - len(self._end)
        self._pieces = Pieces()
        self._piece = bytearray()
        self._count = 0

    def add(self, elements: Sequence[Any]) -> None:
        """Append elements, as far as the client may see them. Raises EncodeError."""
        part = self._exchange.amended(replace(self._response, **{self._field: elements}))
        count, piece = len(getattr(part, self._field)), self._piece
        start = len(piece)
        self._encode(part, piece)
        del piece[len(piece) - len(self._end) :]
        del piece[start : start + self._before + len(self._size(count))]
        self._count += count
        if len(piece) >= PIECE_BYTES:
            self._pieces.append(piece)
            self._piece = bytearray()

    def complete(self) -> None:
        """Answer the request."""
        self._exchange.complete_in_pieces(self._response, self._pieces, self._head_of)

    def _head_of(self, frame: bytearray) -> bytearray:
        """Complete the pieces, and return what comes in front of them. ``frame`` is that of an answer without elements."""
        self._piece += self._end
        self._pieces.append(self._piece)
        return frame[: len(frame) - len(self._size(0)) - len(self._end)] + self._size(self._count)

    def _size(self, count: int) -> bytes:
        return write_uvarint(count + 1) if self._is_flexible else _COUNT.pack(count)
