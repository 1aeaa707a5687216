"""What a refusal may cost: four times the frame and 64 KiB of memory, and the time of a few acceptances;
and all of it linear in the bytes.
"""

from __future__ import annotations

import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, cast

import pytest

from protocol.codec import decoder, encode
from protocol.errors import DecodeError
from protocol.fields import Item, Message
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.schema import fields_of
from tests.support.batches import in_batches
from tests.support.oracle import Field, schema
from tests.support.protocol_values import (
    EVERY_VERSION,
    MESSAGES,
    as_struct,
    emptiest,
    filled,
    null_where_possible,
    prepare_skippers,
)

IS_LONG = "PROTOCOL_FRAMES" in os.environ
# As large as a decoder reads without a look ahead; PROTOCOL_FRAMES=all is for larger ones, filled in more ways.
SIZE = 30_000 if IS_LONG else 800
Frame = tuple[str, bytes]


def layouts() -> list[tuple[str, int]]:
    """Every message at every version that has code of its own."""
    seen: dict[Any, tuple[str, int]] = {}
    for name, version in EVERY_VERSION:
        read: Any = decoder(MESSAGES[name], version)
        seen.setdefault(getattr(read, "__code__", (name, version)), (name, version))
    return list(seen.values())


LAYOUTS = layouts()
each_layout = in_batches("name, version", LAYOUTS, tests=12)


def tiny_texts(field: Field, index: int) -> Any:
    """Two letters that each take four bytes of UTF-8, and so make the largest objects of a short string."""
    return {"string": "\U0001f600a", "bytes": b"x", "records": b"x"}.get(
        field.type, 1 << 20 if field.type == "int32" else emptiest(field, index)
    )


def one_letter(field: Field, index: int) -> Any:
    """Strings differ in length, so that no element looks like the one before it."""
    return {"string": "ab" * (index % 3), "bytes": b"x"}.get(field.type, emptiest(field, index))


FILLS: list[Callable[[Field, int], Any]] = [emptiest, null_where_possible, tiny_texts, one_letter]


def arrays_of(value: Message | Item, version: int, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The ways to the arrays of a message that has one element in each; a nested struct is a step,
    and so is the only element of an array.
    """
    for field in fields_of(cast("Any", type(value))):
        item = getattr(value, field.name)
        if version not in field.versions or not item:
            continue
        here = (*path, field.name)
        if field.is_array:
            yield here
            item = item[0]
        if isinstance(item, Item):
            yield from arrays_of(item, version, here)


def repeated(name: str, version: int, fill: Callable[[Field, int], Any], path: tuple[str, ...], counts: tuple[int, ...]) -> bytes:
    """The message with as many elements in the arrays on the way to ``path``, the innermost first in ``counts``,
    and one in all others.
    """
    message: Any = as_struct(name, version, filled(schema(name, version), fill, (1, 1, 1, 1)))
    holders, holder = [], message
    for step in path:
        item = getattr(holder, step)
        if isinstance(item, list):
            holders.append((holder, step, item))
            item = item[0] if item else None
        holder = item
    for (owner, step, item), count in zip(reversed(holders), counts, strict=False):
        setattr(owner, step, item * count)
    return encode(message, version)


def worst_frames(name: str, version: int, size: int, fills: list[Callable[[Field, int], Any]]) -> Iterator[Frame]:
    """Good frames of about ``size`` bytes, full of the smallest elements: of every array, and of arrays in arrays."""
    for fill in fills:
        message = as_struct(name, version, filled(schema(name, version), fill, (1, 1, 1, 1)))
        for path in arrays_of(message, version):
            for inner in (1, 5) if len(path) > 1 else (1,):
                one = len(repeated(name, version, fill, path, (inner, 1)))
                more = len(repeated(name, version, fill, path, (inner, 3))) - one
                if more:
                    outer = 1 + 2 * size // more
                    yield f"{fill.__name__} {'.'.join(path)} {inner}", repeated(name, version, fill, path, (inner, outer))
                each = len(repeated(name, version, fill, path, (3,))) - len(repeated(name, version, fill, path, (1,)))
                if each and inner == 1:
                    yield f"{fill.__name__} {'.'.join(path)}", repeated(name, version, fill, path, (1 + 2 * size // each,))


def refusal_peak(read: Callable[[bytes, int], Any], frame: bytes) -> int:
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    with pytest.raises(DecodeError):
        read(frame, 0)
    return tracemalloc.get_traced_memory()[1] - before


@each_layout
def test_a_frame_refused_at_its_last_byte_costs_four_times_its_bytes_and_64_kib(name: str, version: int) -> None:
    """However many small elements have been read by then, or would have been."""
    read = decoder(MESSAGES[name], version)
    prepare_skippers(name, version)
    # Made before memory is traced, which makes all that takes memory several times as slow.
    frames = [(what, frame[:-1]) for what, frame in worst_frames(name, version, SIZE, FILLS if IS_LONG else [tiny_texts])]
    tracemalloc.start()
    try:
        for what, bad in frames:
            assert refusal_peak(read, bad) <= 4 * len(bad) + 65536, (what, len(bad))
    finally:
        tracemalloc.stop()


class Steps:
    """Counts the lines and calls of Python, and the calls of C, that something takes."""

    def __init__(self) -> None:
        self.count = 0

    def _trace(self, frame: Any, event: str, argument: object) -> Any:
        self.count += 1
        return self._trace

    def of(self, step: Callable[[], object]) -> int:
        self.count = 0
        sys.settrace(self._trace)
        sys.setprofile(self._trace)
        try:
            with suppress(DecodeError):
                step()
        finally:
            sys.setprofile(None)
            sys.settrace(None)
        return self.count


@pytest.mark.parametrize("version", [3, 4])
def test_long_strings_that_grow_while_they_are_decoded_stay_within_it(version: int) -> None:
    """One wide character among as many narrow ones as fit: four bytes for each, beside what was decoded before it came."""
    text = "a" * 32_763 + "\U0001f600"
    frame = encode(HeartbeatRequest(group_id=text, generation_id=1, member_id=text), version)[:-1]

    prepare_skippers("HeartbeatRequest", version)
    tracemalloc.start()
    try:
        assert 0 < refusal_peak(decoder(HeartbeatRequest, version), frame) <= 4 * len(frame) + 65_536
    finally:
        tracemalloc.stop()


@each_layout
def test_reading_and_refusing_take_time_linear_in_the_bytes(name: str, version: int) -> None:
    """Eight times the elements take about eight times the steps, not sixty-four;
    a refusal takes a few times the steps of an acceptance.
    """
    read = decoder(MESSAGES[name], version)
    prepare_skippers(name, version)
    steps = Steps()
    frames = zip(worst_frames(name, version, 400, [one_letter]), worst_frames(name, version, 3_200, [one_letter]), strict=True)
    for (what, frame), (_, longer) in frames:
        few, many = (steps.of(lambda data=data: read(data, 0)) for data in (frame, longer))  # type: ignore[misc]
        few_refused, many_refused = (steps.of(lambda data=data[:-1]: read(data, 0)) for data in (frame, longer))  # type: ignore[misc]
        assert many <= 25 * few + 500, what
        assert many_refused <= 25 * few_refused + 500, what
        assert many_refused <= 5 * many + 8000, what
