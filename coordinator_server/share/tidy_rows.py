"""Rows that are known to be tidy. Classes that are derived from bytes cannot be compiled: they have a module of their own."""

from __future__ import annotations


class TidyRows(bytes):
    """Rows in order, of which no two overlap or are to be merged: combined, they stay as they are. Equal to the same bytes."""

    __slots__ = ()


class ApartRows(TidyRows):
    """Tidy rows of which no two are neighbours: they are tidy whatever their kinds are."""

    __slots__ = ()
