"""Counts by key, of which only positive ones are kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

K = TypeVar("K")


def recount(counts: dict[K, int], old: Iterable[K], new: Iterable[K]) -> None:
    """Count each of ``old`` once less, and each of ``new`` once more. Only positive counts are kept."""
    changes: dict[K, int] = {}
    for keys, change in ((old, -1), (new, 1)):
        for key in keys:
            changes[key] = changes.get(key, 0) + change
    for key, change in changes.items():
        count = counts.get(key, 0) + change
        if change and count:
            counts[key] = count
        elif change:
            del counts[key]
