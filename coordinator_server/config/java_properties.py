"""Files of Java properties, as ``java.util.Properties`` reads them, in UTF-8:
Kafka's ``server.properties`` and those of its tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_BLANKS: Final = " \t\f"
_COMMENTS: Final = ("#", "!")
# A name ends at the first of these that has no backslash before it.
_NAME: Final = re.compile(r"(?:[^\\=: \t\f]|\\.)*", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
_ESCAPED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "": ""}


class PropertyLine(NamedTuple):
    """A property of a file. ``number`` is that of its first line, from 1."""

    number: int
    name: str
    value: str


class MalformedProperties(ValueError):
    """The error of a line that cannot be read. ``number`` is the line's, from 1."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(why)
        self.number = number


def parse_properties(text: str) -> list[PropertyLine]:
    """Return the properties in their order. Blanks around a value do not count, as in Kafka. Raises MalformedProperties."""
    found = []
    for number, line in _logical_lines(text):
        name = _NAME.match(line)
        assert name is not None
        rest = line[name.end() :]
        separator = _SEPARATOR.match(rest)
        assert separator is not None
        found.append(
            PropertyLine(number, _unescaped(number, name[0]), _unescaped(number, rest[separator.end() :]).strip(_BLANKS))
        )
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not comments, with those that follow an odd number of backslashes."""
    first, gathered = 0, ""
    for number, natural in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = natural.lstrip(_BLANKS)
        if not gathered:
            if not line or line.startswith(_COMMENTS):
                continue
            first = number
        gathered += line
        if (len(line) - len(line.rstrip("\\"))) % 2:
            gathered = gathered[:-1]
            continue
        if gathered:
            yield first, gathered
        gathered = ""
    if gathered:
        yield first, gathered


def _unescaped(number: int, text: str) -> str:
    def meant(escape: re.Match[str]) -> str:
        what = escape[1]
        if len(what) > 1:
            return chr(int(what[1:], 16))
        if what == "u":
            raise MalformedProperties(number, r"\u is followed by four hexadecimal digits")
        return _ESCAPED.get(what, what)

    return _ESCAPE.sub(meant, text)
