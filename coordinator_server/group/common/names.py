"""The names of topics in the records of members."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator_server.machine.java import text_order


def sorted_names(names: Iterable[str]) -> list[str]:
    """Return topics as in a member's record: each once, in the order of Java's strings, by UTF-16 units."""
    distinct = set(names)
    if all(map(str.isascii, distinct)):
        return sorted(distinct)
    return sorted(distinct, key=text_order)
