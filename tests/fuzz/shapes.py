"""Requests of strange shapes: valid bytes, with what may be repeated repeated, nested and enlarged, from one random number.

Fuzzing of bytes finds what crashes a decoder. This finds what is valid, small for a peer, and dear for the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final, cast

import msgspec

from coordinator_server.server.apis.table import ROWS
from protocol.api import APIS
from protocol.errors import EncodeError
from protocol.fields import Item, Message, Primitive
from protocol.frames import encode_request
from protocol.schema import FieldSpec, fields_of

EVERY_SHAPE: Final = [
    (row.request, version)
    for row in ROWS
    if row.request.kafka.key is not None
    for version in range(APIS[row.request.kafka.key].min_version, APIS[row.request.kafka.key].max_version + 1)
]
"""Each served API at each version."""

TOPIC: Final = "load"
GROUPS: Final = ["group-0", "group-1", "large-group", ""]
_NAMES: Final = [TOPIC, "__consumer_offsets", "other", "Stable", "consumer", *GROUPS]
_ODD_NAMES: Final = ["x", "\x1b[2J\n", "\0", "🦀", "a" * 249, "b" * 8_000, "🦀" * 2_000, "c" * 32_767]
_COUNTS: Final = [0, 1, 1, 1, 2, 3]
_LARGE_COUNTS: Final = [100, 1_000, 10_000, 50_000, 300_000]
_INTS: Final = {
    Primitive.INT8: [0, 1, 2, -1, 127],
    Primitive.INT16: [0, 1, -1, 32_767],
    Primitive.UINT16: [0, 1, 65_535],
    Primitive.INT32: [0, 0, 1, 2, -1, 10_000, 2**31 - 1, -(2**31)],
    Primitive.UINT32: [0, 1, 2**32 - 1],
    Primitive.INT64: [0, 1, -1, -2, -3, 2**63 - 1, -(2**63)],
}
MAX_FRAME_BYTES: Final = 1 << 20
MAX_REPEATED_BYTES: Final = 1 << 17


class Shapes:
    """A source of frames. ``names`` are known to the server, besides the usual ones; ``scale`` divides the large counts."""

    def __init__(self, seed: int, names: Sequence[str] = (), scale: int = 1) -> None:
        self._rng = Random(seed)
        self._names = [*_NAMES, *names]
        self._scale = scale
        self._is_large = False

    def frames(self, request: type[Message], version: int) -> bytes:
        """One request of this API and version, or a pipeline of the same one."""
        rng = self._rng
        while True:
            self._is_large = rng.random() < 0.6
            try:
                frame = self._frame(request, version)
            except EncodeError:
                continue
            if len(frame) <= MAX_FRAME_BYTES:
                break
        return frame * min(rng.choice([1, 1, 1, 2, 20, 2_000 // self._scale or 1]), max(1, MAX_REPEATED_BYTES // len(frame)))

    def any_frames(self) -> bytes:
        """Requests of any API and version."""
        return self.frames(*self._rng.choice(EVERY_SHAPE))

    def _frame(self, request: type[Message], version: int) -> bytes:
        assert request.kafka.key is not None
        client_id = self._rng.choice(["client", "client", "", self._rng.choice(_ODD_NAMES)])
        return encode_request(request.kafka.key, version, self._rng.randrange(1 << 31), client_id, self._struct(request, version))

    def _struct(self, struct: type[Any], version: int) -> Any:
        present = [field for field in fields_of(cast("type[Message | Item]", struct)) if version in field.versions]
        return struct(**{field.name: self._value(field, version) for field in present})

    def _value(self, field: FieldSpec, version: int) -> object:
        rng = self._rng
        if version in field.nullable and rng.random() < 0.2:
            return None
        if not field.is_array:
            return self._one(field.type, version)
        if not self._is_large or rng.random() < 0.5:
            return [self._one(field.type, version) for _ in range(rng.choice(_COUNTS))]
        # The same few elements over and over: only one array of a branch is large, or nested ones multiply.
        count, self._is_large = rng.choice(_LARGE_COUNTS) // self._scale, False
        some = [self._one(field.type, version) for _ in range(rng.choice([1, 1, 3]))]
        count = min(count, MAX_FRAME_BYTES // max(1, len(msgspec.msgpack.encode(some)) // (2 * len(some))))
        distinct = isinstance(field.type, Primitive) and field.type is Primitive.STRING and rng.random() < 0.5
        return [f"name-{index}" for index in range(count)] if distinct else (some * (count // len(some) + 1))[:count]

    def _one(self, kind: Primitive | type[Item], version: int) -> object:
        rng = self._rng
        if not isinstance(kind, Primitive):
            return self._struct(kind, version)
        if kind is Primitive.STRING:
            return rng.choice(self._names if rng.random() < 0.8 else _ODD_NAMES)
        if kind in _INTS:
            return rng.choice(_INTS[kind])
        if kind is Primitive.BOOL:
            return rng.random() < 0.5
        if kind is Primitive.FLOAT64:
            return rng.choice([0.0, -1.0, float("inf"), float("nan")])
        if kind is Primitive.UUID:
            return bytes(16) if rng.random() < 0.7 else rng.randbytes(16)
        return rng.choice([b"", b"\0\0\0\0\0\0", rng.randbytes(100), bytes(10_000)])
