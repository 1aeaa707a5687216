"""How many records each group had, minute by minute: offsets that were committed, and everything else.

A commit counts when it was written, whatever became of its transaction.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

MINUTE_MS: Final = 60_000


class Minute(NamedTuple):
    """What a group's log has of one minute, which begins at ``at_ms``: committed offsets, and other records."""

    at_ms: int
    commits: int
    others: int


class ActivityRows:
    """Writes the minutes of groups."""

    def __init__(self) -> None:
        self._commits: Counter[tuple[int, int]] = Counter()
        self._others: Counter[tuple[int, int]] = Counter()

    def add(self, group_no: int, at_ms: int, *, is_commit: bool) -> None:
        """Count a record of a group."""
        (self._commits if is_commit else self._others)[group_no, at_ms // MINUTE_MS] += 1

    def flush(self, database: sqlite3.Connection) -> None:
        """Write what was counted."""
        for group_no, minute in self._commits.keys() | self._others.keys():
            counted = self._commits[group_no, minute], self._others[group_no, minute]
            database.execute(
                "INSERT INTO minutes VALUES (?, ?, ?, ?) ON CONFLICT (group_no, minute)"
                " DO UPDATE SET commits = commits + excluded.commits, others = others + excluded.others",
                (group_no, minute, *counted),
            )
        self._commits, self._others = Counter(), Counter()


def activity(database: sqlite3.Connection, group_id: str, since_ms: int = 0, until_ms: int = 2**62) -> list[Minute]:
    """Return the minutes of a group in which its log has records, in order, from the one of a moment to that of another."""
    rows: Iterable[tuple[int, int, int]] = database.execute(
        "SELECT minute, commits, others FROM minutes WHERE group_no = (SELECT group_no FROM groups WHERE id = ?)"
        " AND minute BETWEEN ? AND ? ORDER BY minute",
        (group_id, since_ms // MINUTE_MS, until_ms // MINUTE_MS),
    )
    return [Minute(minute * MINUTE_MS, commits, others) for minute, commits, others in rows]
