"""Tables in text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from protocol.printable import printable


def columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Return the lines of a table, its heading first; no lines if it has only a heading."""
    if len(rows) == 1:
        return
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
