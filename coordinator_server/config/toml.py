"""Properties in a TOML file. A property is a key in quotes, or tables and keys that make up its name.

``"log.flush" = "os"`` and ``flush = "os"`` under ``[log]`` are the same. TOML does not allow both ``topics = …`` and
``topics.max = …`` without quotes. A list is equal to its items, separated by commas.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

_POSITION: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_NEEDS_QUOTES: Final = ("Cannot overwrite", "Cannot declare", "Cannot redefine", "Cannot mutate")


class TomlProperty(NamedTuple):
    """A property of a file. ``number`` is that of its line, from 1."""

    number: int
    name: str
    value: str


class MalformedToml(ValueError):
    """The error of a file that cannot be read. ``number`` is that of the line, from 1."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(why)
        self.number = number


def parse_toml(text: str) -> list[TomlProperty]:
    """Return the properties in their order. Raises MalformedToml."""
    text = text.replace("\r\n", "\n")
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as bad:
        raise _malformed(text, str(bad)) from None
    found: dict[str, TomlProperty] = {}
    for number, statement in _statements(text):
        for name, value in _flattened(statement):
            written = _text(value)
            if written is None:
                raise MalformedToml(number, f"{name} is neither text, number nor boolean, nor a list of these")
            if name in found:
                raise MalformedToml(number, f"{name} is also in line {found[name].number}")
            found[name] = TomlProperty(number, name, written)
    return list(found.values())


def _malformed(text: str, why: str) -> MalformedToml:
    position = _POSITION.search(why)
    number = int(position[1]) if position is not None and position[1] else text.count("\n") + 1
    why = _POSITION.sub("", why)
    if any(word in why for word in _NEEDS_QUOTES):
        why += '; a property whose name begins with that of another one needs quotes, such as "topics.max" = 1000'
    return MalformedToml(number, why)


def _statements(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each statement of a valid document, inside of its table, with the number of its first line."""
    header, lines = "", text.split("\n")
    at = 0
    while at < len(lines):
        if lines[at].lstrip().startswith("["):
            header = lines[at]
            at += 1
            continue
        end = at + 1
        while (statement := _parsed(header, lines[at:end])) is None:
            assert end < len(lines), "the document is valid, so every statement ends"
            end += 1
        yield at + 1, statement
        at = end


def _parsed(header: str, lines: list[str]) -> dict[str, Any] | None:
    """Return what the lines say in a table, or None if they end within a value."""
    try:
        return tomllib.loads("\n".join([header, *lines]))
    except tomllib.TOMLDecodeError:
        return None


def _flattened(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _text(value: object) -> str | None:
    """Return a value as it is written in a file of Java properties."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return value
        case int() | float():
            return str(value)
        case list():
            items = [None if isinstance(item, list) else _text(item) for item in value]
            return None if None in items else ",".join(filter(None, items))
    return None
