"""Rows that are known to be tidy. A class that is derived from bytes cannot be compiled: it has a module of its own."""

from __future__ import annotations


class TidyRows(bytes):
    """Rows in order, of which no two overlap or are to be merged: combined, they stay as they are. Equal to the same bytes."""

    __slots__ = ()
