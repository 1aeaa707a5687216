"""Skips structs without making values, in order to check a large message before memory is allocated for it.

Python objects take many times the memory of small encoded elements. A decoder counts the memory that it is about to use. Before
that exceeds the limit for a frame, ``refusal.verify`` checks the whole message once.
An invalid message then costs only this check.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Callable
from functools import cache
from struct import Struct
from typing import Any, Final, cast

from protocol import runs, wire
from protocol.fields import Item, Message, Primitive

_PART: Final = 4096
Skipper = Callable[[bytes, int], int]
"""Takes the position of a struct and returns the position after it. Raises one of ``wire.DECODE_ERRORS`` if it is invalid."""

ElementsSkipper = Callable[[bytes, int, int], tuple[int, int]]
"""Takes a position and a number of elements.

Returns the number of elements before the first invalid one, and the position after them.
"""


@cache
def struct_skipper(struct: type[Message | Item], version: int, is_flexible: bool) -> Skipper:
    """Return the skipper of a struct."""
    from protocol.generate.skipping import SkipWriter
    from protocol.generate.source import Layouts

    layouts = Layouts()
    return cast("Skipper", _compiled(SkipWriter(version, is_flexible, layouts).of_struct(struct), layouts.definitions()))


@cache
def elements_skipper(kind: Primitive | type[Item], version: int, is_flexible: bool, is_compact: bool) -> ElementsSkipper:
    """Return the skipper of an array's elements."""
    from protocol.generate.skipping import SkipWriter
    from protocol.generate.source import Layouts

    layouts = Layouts()
    lines = SkipWriter(version, is_flexible, layouts).of_elements(kind, is_compact)
    return cast("ElementsSkipper", _compiled(lines, layouts.definitions()))


def _compiled(lines: list[str], definitions: list[str]) -> object:
    names: dict[str, Any] = {**vars(runs), **vars(wire), "Struct": Struct, "check_text": check_text}
    exec("\n".join([*definitions, *lines]), names)
    return names["skip"]


def check_text(buf: bytes, pos: int, size: int) -> None:
    """Raise UnicodeDecodeError if the bytes are not UTF-8; its ``start`` is the position in ``buf``. Checks in parts."""
    end = min(pos + size, len(buf))
    while pos < end:
        stop = min(pos + _PART, end)
        try:
            _, used = utf_8_decode(buf[pos:stop], "strict", stop == end)
        except UnicodeDecodeError as error:
            raise UnicodeDecodeError(error.encoding, buf, pos + error.start, pos + error.end, error.reason) from None
        pos += used
