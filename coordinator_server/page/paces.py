"""How fast groups consume, how far they are behind, and what their last commits say of that.

All of it comes from the last commits of each position, which the index has. How far partitions are is known where ``observe``
samples their ends; elsewhere lags and verdicts are unknown, and rates are known all the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from msgspec import Struct

from coordinator_server.pipeline.index.tables.lags import indexed_group_lags, lags_now, last_commits
from coordinator_server.pipeline.lag.verdicts import Made


class PartitionPace(Struct):
    """A position of a group: ``rate`` in records per second, over its last commits; None if there were fewer than two."""

    topic: str
    partition: int
    offset: int
    committed_ms: int
    rate: float | None
    end_offset: int | None = None
    lag: int | None = None
    lag_s: float | None = None
    verdict: str | None = None
    reason: str | None = None


class Pace(Struct):
    """A group: the sum of its rates, and its lag as of the last sample."""

    rate: float | None = None
    lag: int | None = None
    lag_s: float | None = None
    verdict: str | None = None
    worst: str | None = None


def paces(database: sqlite3.Connection, now_ms: int) -> dict[str, Pace]:
    """Return the paces of all groups that have committed."""
    found: dict[str, Pace] = {}
    for where, commits in last_commits(database):
        pace = found.setdefault(where.group, Pace())
        one = rate(commits, now_ms)
        if one is not None:
            pace.rate = round((pace.rate or 0.0) + one, 3)
    for each in indexed_group_lags(database):
        if each.group in found and each.lag is not None:
            pace = found[each.group]
            pace.lag, pace.lag_s, pace.verdict, pace.worst = each.lag, each.lag_s, str(each.verdict), each.worst
    return found


def partition_paces(database: sqlite3.Connection, group_id: str, now_ms: int) -> list[PartitionPace]:
    """Return the pace of each position of a group."""
    found = [
        PartitionPace(where.topic, where.partition, commits[-1].offset, commits[-1].at_ms, rate(commits, now_ms))
        for where, commits in last_commits(database, [group_id])
    ]
    known = {(each.topic, each.partition): each for each in lags_now(database, [group_id]) if each.lag is not None}
    for each in found:
        lag = known.get((each.topic, each.partition))
        if lag is not None:
            each.end_offset, each.lag, each.lag_s = lag.end_offset, lag.lag, lag.lag_s
            each.verdict, each.reason = str(lag.verdict), lag.reason
    return found


def rate(commits: Sequence[Made], now_ms: int) -> float | None:
    """Return how many records a second were consumed over some commits; 0 after a silence as long as they are."""
    took_ms = commits[-1].at_ms - commits[0].at_ms
    if took_ms <= 0:
        return None
    if now_ms - commits[-1].at_ms > took_ms:
        return 0.0
    return max(0.0, (commits[-1].offset - commits[0].offset) * 1000 / took_ms)
