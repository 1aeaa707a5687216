"""The last commits of each position, and the lag of each group as of the last sample."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from coordinator_server.pipeline.index.tables.end_offsets import end_offsets
from coordinator_server.pipeline.lag.commit_keys import Position
from coordinator_server.pipeline.lag.end_offsets import EndOffsets
from coordinator_server.pipeline.lag.lags import WINDOW_MS, Change, Commits, GroupLag, Lag, Window, group_lags, lag_of
from coordinator_server.pipeline.lag.verdicts import Made, Verdict
from protocol.record_batch import BatchHeader

OpenCommits = dict[int, list[Change]]
decode_open: Final = msgspec.msgpack.Decoder(OpenCommits).decode
_NUMBERS: Final = msgspec.msgpack.Decoder(list[int])
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
        """Write what has changed. A position without commits is kept while a transaction is open, which may be of before."""
        for where in self._changed:
            window = self._commits.windows[where]
            chosen = "(SELECT group_no FROM groups WHERE id = ?)"
            if window.commits or self.open:
                row = *where, window.newest, _packed(window.commits)
                database.execute(f"INSERT OR REPLACE INTO positions VALUES ({chosen}, ?, ?, ?, ?)", row)
            else:
                database.execute(f"DELETE FROM positions WHERE group_no = {chosen} AND topic = ? AND partition = ?", where)
        self._changed = set()


class _StoredCommits(Commits):
    """Knows what the database has."""

    def __init__(self, database: sqlite3.Connection, going_on: OpenCommits) -> None:
        super().__init__(going_on=going_on)
        self._database = database

    def window(self, where: Position) -> Window:
        """Return the window of a position, as it is known or stored."""
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


def write_group_lags(database: sqlite3.Connection) -> None:
    """Write the lag of each group as of the last sample. The caller has a transaction."""
    database.execute("DELETE FROM group_lags")
    for each in group_lags(lags_now(database)):
        row = each.partitions, each.lag, each.lag_s, str(each.verdict), each.worst
        database.execute(
            f"INSERT INTO group_lags (group_no, {_COLUMNS}) VALUES ((SELECT group_no FROM groups WHERE id = ?), ?, ?, ?, ?, ?)",
            (each.group, *row),
        )


# --- reading


def last_sample_ms(database: sqlite3.Connection) -> int:
    """Return the time of the last complete sample; -1 without one."""
    (found,) = database.execute("SELECT coalesce(max(at_ms), -1) FROM samples").fetchone()
    return int(found)


def last_commits(database: sqlite3.Connection, groups: Collection[str] = ()) -> Iterator[tuple[Position, list[Made]]]:
    """Yield the last commits of the positions of groups, of each by partition; of all if none is named."""
    where = f" WHERE g.id IN ({', '.join('?' * len(groups))})" if groups else ""
    rows: Iterable[tuple[str, str, int, bytes]] = database.execute(
        "SELECT g.id, p.topic, p.partition, p.commits FROM positions p JOIN groups g ON g.group_no = p.group_no"
        f"{where} ORDER BY g.id, p.topic, p.partition",
        tuple(groups),
    )
    for group, topic, partition, packed in rows:
        if commits := _unpacked(packed):
            yield Position(group, topic, partition), commits


def lags_now(database: sqlite3.Connection, groups: Collection[str] = ()) -> Iterator[Lag]:
    """Yield the lags of groups as of the last sample, of each by partition; of all if none is named."""
    ends: EndOffsets | None = None
    for where, commits in last_commits(database, groups):
        if ends is None:
            ends = end_offsets(database, since_ms=last_sample_ms(database) - WINDOW_MS)
        yield lag_of(where, commits, ends)


def indexed_group_lags(database: sqlite3.Connection) -> list[GroupLag]:
    """Return the lag of each group as of the last sample, by group; none without a sample."""
    rows = database.execute(f"SELECT g.id, {_COLUMNS} FROM group_lags l JOIN groups g ON g.group_no = l.group_no ORDER BY g.id")
    return [
        GroupLag(group, partitions, lag, lag_s, Verdict(verdict), worst) for group, partitions, lag, lag_s, verdict, worst in rows
    ]
