"""Steps over structs without making values: how a large message is looked at before memory is taken for it.

Python objects take many times the bytes of small elements. A decoder counts what it is about to make; before that becomes more than a
frame may cost, ``refusal.verify`` looks at the whole message once. What is refused then has cost no more than the look.
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
"""From the position of something to the one behind it; one of ``wire.DECODE_ERRORS`` when it is not right."""

ElementsSkipper = Callable[[bytes, int, int], tuple[int, int]]
"""Of so many elements at a position, how many have nothing wrong before the first that has, and the position behind those."""


@cache
def struct_skipper(struct: type[Message | Item], version: int, is_flexible: bool) -> Skipper:
    """Steps over the struct."""
    from protocol.generate.skipping import SkipWriter
    from protocol.generate.source import Layouts

    layouts = Layouts()
    return cast("Skipper", _compiled(SkipWriter(version, is_flexible, layouts).of_struct(struct), layouts.definitions()))


@cache
def elements_skipper(kind: Primitive | type[Item], version: int, is_flexible: bool, is_compact: bool) -> ElementsSkipper:
    """Steps over the elements of an array."""
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
    """Whether the bytes are UTF-8, looked at by parts; the error's ``start`` is the place in ``buf``."""
    end = min(pos + size, len(buf))
    while pos < end:
        stop = min(pos + _PART, end)
        try:
            _, used = utf_8_decode(buf[pos:stop], "strict", stop == end)
        except UnicodeDecodeError as error:
            raise UnicodeDecodeError(error.encoding, buf, pos + error.start, pos + error.end, error.reason) from None
        pos += used
