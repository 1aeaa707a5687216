"""Tables as people read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The lines of a table, its heading first; nothing when that is all."""
    if len(rows) == 1:
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
