"""The last commits of each position, and the lag of each group as of the last sample."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import msgspec

from coordinator_server.pipeline.index.tables.end_offsets import LatestEnds, last_sample_ms, sampled_topics
from coordinator_server.pipeline.lag.commit_keys import Position
from coordinator_server.pipeline.lag.end_offsets import EndOffsets
from coordinator_server.pipeline.lag.lags import WINDOW_MS, Change, Commits, GroupLag, Lag, Window, group_lags, lag_of, suffice
from coordinator_server.pipeline.lag.verdicts import Made, Verdict
from protocol.record_batch import BatchHeader

OpenCommits = dict[int, list[Change]]
decode_open: Final = msgspec.msgpack.Decoder(OpenCommits).decode
_NUMBERS: Final = msgspec.msgpack.Decoder(list[int])
_STALE: Final = "group_no IN (SELECT group_no FROM stale_lags)"
_COLUMNS: Final = ", ".join(GroupLag.__struct_fields__[1:])


class LagRows:
    """Writes the last commits of the positions of one shard. ``open`` are the commits of its open transactions, by producer."""

    def __init__(self, database: sqlite3.Connection, going_on: OpenCommits) -> None:
        self._commits = _StoredCommits(database, going_on)
        self._changed: set[Position] = set()

    @property
    def open(self) -> OpenCommits:
        """The commits of open transactions, by producer."""
        return self._commits.open

    def take(self, batch: tuple[bytes, int, BatchHeader]) -> None:
        """Take the next batch. Raises DecodeError."""
        self._changed.update(self._commits.take(*batch))

    def flush(self, database: sqlite3.Connection) -> None:
        """Write what has changed, and forget it: a cluster has more positions than there is room for.

        A position without commits is kept while a transaction is open, which may be of before.
        """
        for where in self._changed:
            window = self._commits.windows[where]
            chosen = "(SELECT group_no FROM groups WHERE id = ?)"
            if window.commits or self.open:
                last = window.commits[-1].offset if window.commits else None
                row = *where, window.newest, last, _packed(window.commits)
                database.execute(f"INSERT OR REPLACE INTO positions VALUES ({chosen}, ?, ?, ?, ?, ?)", row)
            else:
                database.execute(f"DELETE FROM positions WHERE group_no = {chosen} AND topic = ? AND partition = ?", where)
        stale = "INSERT OR IGNORE INTO stale_lags SELECT group_no FROM groups WHERE id = ?"
        for group in {where.group for where in self._changed}:
            database.execute(stale, (group,))
        self._changed = set()
        self._commits.windows.clear()


class _StoredCommits(Commits):
    """Knows what the database has."""

    def __init__(self, database: sqlite3.Connection, going_on: OpenCommits) -> None:
        super().__init__(going_on=going_on)
        self._database = database

    def window(self, where: Position) -> Window:
        """Return the window of a position, as it is known since the last flush, or stored."""
        found = self.windows.get(where)
        if found is None:
            row = self._database.execute(
                "SELECT newest, commits FROM positions WHERE group_no = (SELECT group_no FROM groups WHERE id = ?)"
                " AND topic = ? AND partition = ?",
                where,
            ).fetchone()
            found = self.windows[where] = Window() if row is None else Window(row[0], _unpacked(row[1]))
        return found


def _packed(commits: Sequence[Made]) -> bytes:
    """Return commits as bytes: numbers that differ little from one to the next are few of them."""
    numbers, before = [], Made(0, 0, 0)
    for each in commits:
        numbers += [each.at_ms - before.at_ms, each.offset - before.offset, each.made_ms - each.at_ms]
        before = each
    return msgspec.msgpack.encode(numbers)


def _unpacked(packed: bytes) -> list[Made]:
    found: list[Made] = []
    at_ms = offset = 0
    numbers = iter(_NUMBERS.decode(packed))
    for step_ms, step, made_after in zip(numbers, numbers, numbers, strict=True):
        at_ms, offset = at_ms + step_ms, offset + step
        found.append(Made(at_ms, offset, at_ms + made_after))
    return found


def write_group_lags(database: sqlite3.Connection, *, is_sampled: bool) -> None:
    """Write the lag of groups as of the last sample: with new samples of all, otherwise of those that have other commits now.

    SQLite adds up what is unread. Positions of which something is are judged here. The caller has a transaction.
    """
    chosen = "true" if is_sampled else _STALE
    database.execute(f"DELETE FROM group_lags WHERE {chosen}")
    if last_sample_ms(database) >= 0:
        if is_sampled:
            _write_ends(database)
        database.execute(
            f"INSERT INTO group_lags (group_no, {_COLUMNS})"
            " SELECT p.group_no, count(*), sum(max(e.end_offset - p.last_offset, 0)),"
            f" iif(sum(e.end_offset <= p.last_offset), 0.0, NULL), '{Verdict.OK}', NULL"
            " FROM positions p LEFT JOIN last_ends e ON e.topic = p.topic AND e.partition = p.partition"
            f" WHERE p.last_offset IS NOT NULL AND {chosen} GROUP BY p.group_no"
        )
        for each in group_lags(_unread_lags(database, chosen)):
            database.execute(
                "UPDATE group_lags SET lag_s = coalesce(?, lag_s), verdict = ?, worst = ?"
                " WHERE group_no = (SELECT group_no FROM groups WHERE id = ?)",
                (each.lag_s, str(each.verdict), each.worst, each.group),
            )
    database.execute("DELETE FROM stale_lags")


def _write_ends(database: sqlite3.Connection) -> None:
    """Write the ends of all partitions at the time of the last sample."""
    database.execute("DELETE FROM last_ends")
    latest = _latest_ends(database)
    for topic in sampled_topics(database):
        ends = latest.of(topic, lambda ends: None not in _last(ends, topic))  # noqa: B023 - called at once
        for partition, end in enumerate(_last(ends, topic)):
            if end is not None:
                database.execute("INSERT INTO last_ends VALUES (?, ?, ?)", (topic, partition, end))


def _last(ends: EndOffsets, topic: str) -> list[int | None]:
    """Return the end of each partition at the time of the last sample."""
    return [ends.at(topic, partition, ends.last_ms) for partition in range(ends.partitions(topic))]


def _unread_lags(database: sqlite3.Connection, chosen: str) -> Iterator[Lag]:
    """Yield the lags of the positions of which something is unread, topic by topic."""
    return _lags(
        database,
        " CROSS JOIN last_ends e ON e.topic = p.topic AND e.partition = p.partition AND e.end_offset > p.last_offset"
        f" WHERE g.group_no IN (SELECT group_no FROM group_lags WHERE lag > 0 AND {chosen})",
    )


def _lags(database: sqlite3.Connection, which: str, values: Iterable[str] = ()) -> Iterator[Lag]:
    """Yield the lags of the chosen positions, topic by topic, so that there are the ends of one topic at a time."""
    rows: Iterable[tuple[str, str, int, bytes]] = database.execute(
        "SELECT g.id, p.topic, p.partition, p.commits FROM groups g CROSS JOIN positions p ON p.group_no = g.group_no"
        f"{which} ORDER BY p.topic, p.partition, g.id",
        tuple(values),
    )
    latest = _latest_ends(database)
    for group, topic, partition, packed in rows:
        if commits := _unpacked(packed):
            where = Position(group, topic, partition)
            ends = latest.of(topic, partial(suffice, where=where, made=commits))
            yield lag_of(where, commits, ends)


# --- reading


def last_commits(database: sqlite3.Connection, groups: Collection[str] = ()) -> Iterator[tuple[Position, list[Made]]]:
    """Yield the last commits of the positions of groups, of each by partition; of all if none is named."""
    rows: Iterable[tuple[str, str, int, bytes]] = database.execute(
        "SELECT g.id, p.topic, p.partition, p.commits FROM positions p JOIN groups g ON g.group_no = p.group_no"
        f"{_among(groups)} ORDER BY g.id, p.topic, p.partition",
        tuple(groups),
    )
    for group, topic, partition, packed in rows:
        if commits := _unpacked(packed):
            yield Position(group, topic, partition), commits


def lags_now(database: sqlite3.Connection, groups: Collection[str] = ()) -> Iterator[Lag]:
    """Yield the lags of groups as of the last sample, by topic, partition and group; of all if none is named."""
    return _lags(database, _among(groups), groups)


def _among(groups: Collection[str]) -> str:
    return f" WHERE g.id IN ({', '.join('?' * len(groups))})" if groups else ""


def _latest_ends(database: sqlite3.Connection) -> LatestEnds:
    return LatestEnds(database, last_sample_ms(database) - WINDOW_MS)


def indexed_group_lags(database: sqlite3.Connection) -> list[GroupLag]:
    """Return the lag of each group as of the last sample, by group; none without a sample."""
    rows = database.execute(f"SELECT g.id, {_COLUMNS} FROM group_lags l JOIN groups g ON g.group_no = l.group_no ORDER BY g.id")
    return [
        GroupLag(group, partitions, lag, lag_s, Verdict(verdict), worst) for group, partitions, lag, lag_s, verdict, worst in rows
    ]
