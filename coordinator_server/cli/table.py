"""Tables in text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from protocol.printable import printable


def columns(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Return the lines of a table, its heading first; no lines if it has only a heading.

    The rows are read twice, the first time for the widths of the columns: no more than one of them is in memory.
    """
    widths: list[int] = []
    has_rows = False
    for row in rows:
        lengths = [len(printable(cell)) for cell in row]
        has_rows = bool(widths)
        widths = list(map(max, widths, lengths)) if widths else lengths
    if has_rows:
        for row in rows:
            yield "  ".join(printable(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
