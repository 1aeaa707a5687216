"""How many records each group had, minute by minute: offsets that were committed, and everything else.

A commit counts when it was written, whatever became of its transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

MINUTE_MS: Final = 60_000


class Minute(NamedTuple):
    """What a group's log has of one minute, which begins at ``at_ms``: committed offsets, others, and rebalances of those."""

    at_ms: int
    commits: int
    others: int
    rebalances: int


class Totals(NamedTuple):
    """How many offsets a group has committed and how often it has rebalanced, in all minutes that the index has."""

    commits: int
    rebalances: int


class ActivityRows:
    """Writes the minutes of groups."""

    def __init__(self) -> None:
        self._counted: dict[tuple[int, int], list[int]] = {}

    def add(self, group_no: int, at_ms: int, *, commits: int = 0, others: int = 0, rebalances: int = 0) -> None:
        """Count records of a group."""
        counted = self._counted.setdefault((group_no, at_ms // MINUTE_MS), [0, 0, 0])
        for at, number in enumerate((commits, others, rebalances)):
            counted[at] += number

    def flush(self, database: sqlite3.Connection) -> None:
        """Write what was counted."""
        for which, counted in self._counted.items():
            database.execute(
                "INSERT INTO minutes VALUES (?, ?, ?, ?, ?) ON CONFLICT (group_no, minute) DO UPDATE SET"
                " commits = commits + excluded.commits, others = others + excluded.others,"
                " rebalances = rebalances + excluded.rebalances",
                (*which, *counted),
            )
            database.execute(
                "INSERT INTO totals VALUES (?, ?, ?) ON CONFLICT (group_no) DO UPDATE SET"
                " commits = commits + excluded.commits, rebalances = rebalances + excluded.rebalances",
                (which[0], counted[0], counted[2]),
            )
        self._counted = {}


def forget_minutes_before(database: sqlite3.Connection, groups: str, shard: int, at_ms: int) -> None:
    """Remove the minutes before the one of a moment from groups of a shard, which SQL chooses, and from their totals."""
    database.execute(f"DELETE FROM minutes WHERE minute < ? AND {groups}", (at_ms // MINUTE_MS, shard))
    database.execute(f"DELETE FROM totals WHERE {groups}", (shard,))
    database.execute(
        f"INSERT INTO totals SELECT group_no, sum(commits), sum(rebalances) FROM minutes WHERE {groups} GROUP BY group_no",
        (shard,),
    )


def activity(database: sqlite3.Connection, group_id: str, since_ms: int = 0, until_ms: int = 2**62) -> list[Minute]:
    """Return the minutes of a group in which its log has records, in order, from the one of a moment to that of another."""
    rows: Iterable[tuple[int, int, int, int]] = database.execute(
        "SELECT minute, commits, others, rebalances FROM minutes WHERE group_no = (SELECT group_no FROM groups WHERE id = ?)"
        " AND minute BETWEEN ? AND ? ORDER BY minute",
        (group_id, since_ms // MINUTE_MS, until_ms // MINUTE_MS),
    )
    return [Minute(minute * MINUTE_MS, *counted) for minute, *counted in rows]


def totals(database: sqlite3.Connection) -> Iterator[tuple[str, Totals]]:
    """Yield the groups with what they have done, by id."""
    rows: Iterable[tuple[str, int, int]] = database.execute(
        "SELECT g.id, t.commits, t.rebalances FROM totals t JOIN groups g ON g.group_no = t.group_no ORDER BY g.id"
    )
    for group, commits, rebalances in rows:
        yield group, Totals(commits, rebalances)
