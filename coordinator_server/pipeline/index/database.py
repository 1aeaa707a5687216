"""The SQLite database of an index: its tables, and how it is opened.

    shards      how far each shard is read, and the last batch that was: its log goes on after that batch, or is a different log
    groups      the groups by id, with their shards
    chunks      stretches of a group's records: where each begins, its times, and how many events are in it and before it
    contents    what a chunk has: its start, its records and what is shown of it
    pieces      the records of the last chunk of each group, which grows
    moments     the offset of each first record that is later than all before it

and what has a page of its own in ``tables/``:

    minutes, totals                    the activity of groups, minute by minute and summed up
    members, memberships               clients in groups: the present ones of each group, and all over time
    transactional_ids, transactions    the state of each id, and its transactions
    group_writes                       what transactions that have ended in a shard of groups wrote there
    share_partitions, share_minutes    the state of each share partition, and how it was
    samples, end_offsets, sample_files the samples, the ends of topics in them, and how far each file was taken
    positions, group_lags              the last commits of each position, and the lag of each group
    last_ends, stale_lags              the ends that those are of, and the groups that have committed since they were written

One process writes, under the lock beside the database; any number read meanwhile (WAL). Each transaction has the records of some
batches and the position after them. It may be lost to a power failure, and is written again then.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.job_lock import job_lock

FORMAT: Final = 7
"""The format of the tables, and of the structs in them. An index of a different format is made again."""
DATABASE: Final = "index.sqlite"
LOCK: Final = "index.lock"
_BUSY_S: Final = 30.0
_TABLES: Final = """
CREATE TABLE source (identity TEXT NOT NULL);
CREATE TABLE shards (
    shard INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, begins_at INTEGER NOT NULL, next_offset INTEGER NOT NULL,
    latest_ms INTEGER NOT NULL, last_base INTEGER NOT NULL, last_crc INTEGER NOT NULL, place TEXT NOT NULL,
    lost_to INTEGER NOT NULL, unreadable INTEGER NOT NULL, producers BLOB NOT NULL, open_commits BLOB NOT NULL);
CREATE TABLE groups (group_no INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, shard INTEGER NOT NULL);
CREATE TABLE chunks (
    group_no INTEGER NOT NULL, chunk INTEGER NOT NULL, start_offset INTEGER NOT NULL, bytes_limit INTEGER NOT NULL,
    events_before INTEGER NOT NULL, shown_before INTEGER NOT NULL, first_ms INTEGER, last_ms INTEGER, is_ordered INTEGER,
    PRIMARY KEY (group_no, chunk)) WITHOUT ROWID;
CREATE TABLE contents (
    group_no INTEGER NOT NULL, chunk INTEGER NOT NULL, start BLOB, base BLOB, records BLOB, part BLOB, shown BLOB,
    owned BLOB,
    UNIQUE (group_no, chunk));
CREATE TABLE pieces (piece INTEGER PRIMARY KEY, group_no INTEGER NOT NULL, size INTEGER NOT NULL, records BLOB NOT NULL);
CREATE INDEX pieces_of_group ON pieces (group_no);
CREATE TABLE moments (shard INTEGER NOT NULL, first_ms INTEGER NOT NULL, pairs BLOB NOT NULL, PRIMARY KEY (shard, first_ms))
    WITHOUT ROWID;
CREATE TABLE minutes (
    group_no INTEGER NOT NULL, minute INTEGER NOT NULL, commits INTEGER NOT NULL, others INTEGER NOT NULL,
    rebalances INTEGER NOT NULL,
    PRIMARY KEY (group_no, minute)) WITHOUT ROWID;
CREATE TABLE members (group_no INTEGER PRIMARY KEY, state BLOB NOT NULL);
CREATE TABLE memberships (
    client_id TEXT NOT NULL, client_host TEXT NOT NULL, group_no INTEGER NOT NULL, since_offset INTEGER NOT NULL,
    since_ms INTEGER NOT NULL, until_offset INTEGER, until_ms INTEGER, most INTEGER NOT NULL,
    PRIMARY KEY (client_id, client_host, group_no, since_offset)) WITHOUT ROWID;
CREATE TABLE transactional_ids (id_no INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, shard INTEGER NOT NULL, last BLOB);
CREATE TABLE transactions (
    id_no INTEGER NOT NULL, begun_offset INTEGER NOT NULL, begun_ms INTEGER NOT NULL, decided_ms INTEGER, ended_offset INTEGER,
    ended_ms INTEGER, outcome TEXT NOT NULL, reason TEXT NOT NULL, producer_id INTEGER NOT NULL, producer_epoch INTEGER NOT NULL,
    partitions TEXT NOT NULL, client_id TEXT NOT NULL, client_host TEXT NOT NULL,
    PRIMARY KEY (id_no, begun_offset)) WITHOUT ROWID;
CREATE INDEX transactions_by_time ON transactions (begun_ms);
CREATE INDEX open_transactions ON transactions (id_no) WHERE ended_offset IS NULL;
CREATE TABLE group_writes (
    producer_id INTEGER NOT NULL, first_ms INTEGER NOT NULL, shard INTEGER NOT NULL, group_no INTEGER NOT NULL,
    first_offset INTEGER NOT NULL, last_ms INTEGER NOT NULL, offsets INTEGER NOT NULL, ended_offset INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL, is_committed INTEGER NOT NULL,
    PRIMARY KEY (producer_id, first_ms, shard, group_no, first_offset)) WITHOUT ROWID;
CREATE TABLE share_partitions (
    share_no INTEGER PRIMARY KEY, shard INTEGER NOT NULL, group_id TEXT NOT NULL, topic_id BLOB NOT NULL,
    partition INTEGER NOT NULL, changed_ms INTEGER, start_offset INTEGER, in_flight INTEGER, acknowledged INTEGER,
    archived INTEGER, most_deliveries INTEGER, oldest_ms INTEGER, kept BLOB,
    UNIQUE (group_id, topic_id, partition));
CREATE TABLE share_minutes (
    share_no INTEGER NOT NULL, minute INTEGER NOT NULL, start_offset INTEGER, in_flight INTEGER, acknowledged INTEGER,
    archived INTEGER, most_deliveries INTEGER, oldest_ms INTEGER, PRIMARY KEY (share_no, minute)) WITHOUT ROWID;
CREATE TABLE sample_files (day TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE samples (at_ms INTEGER PRIMARY KEY);
CREATE TABLE end_offsets (topic TEXT NOT NULL, at_ms INTEGER NOT NULL, ends BLOB NOT NULL, PRIMARY KEY (topic, at_ms))
    WITHOUT ROWID;
CREATE TABLE positions (
    group_no INTEGER NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL, newest INTEGER NOT NULL, last_offset INTEGER,
    commits BLOB NOT NULL, PRIMARY KEY (group_no, topic, partition)) WITHOUT ROWID;
CREATE TABLE last_ends (
    topic TEXT NOT NULL, partition INTEGER NOT NULL, end_offset INTEGER NOT NULL, PRIMARY KEY (topic, partition)) WITHOUT ROWID;
CREATE TABLE group_lags (
    group_no INTEGER PRIMARY KEY, partitions INTEGER NOT NULL, lag INTEGER, lag_s REAL, verdict TEXT NOT NULL, worst TEXT);
CREATE TABLE stale_lags (group_no INTEGER PRIMARY KEY);
CREATE TABLE totals (group_no INTEGER PRIMARY KEY, commits INTEGER NOT NULL, rebalances INTEGER NOT NULL);
"""


class NoIndex(Exception):
    """There is no index that can be read; the text says why, and is empty if there is none at all."""


@contextmanager
def open_to_write(directory: Path, identity: str) -> Iterator[sqlite3.Connection]:
    """Open the index of a log, or make it. One of another log or another format is replaced. Raises Busy, PipelineError."""
    directory.mkdir(parents=True, exist_ok=True)
    with job_lock(directory / LOCK, f"another process writes the index in {directory}"):
        try:
            connection = _opened(directory / DATABASE, identity)
        except sqlite3.Error as error:
            raise damaged(directory, error) from error
        try:
            yield connection
        except sqlite3.Error as error:
            raise damaged(directory, error) from error
        finally:
            connection.close()


def open_to_read(directory: Path, identity: str) -> sqlite3.Connection:
    """Open the index of a log for one transaction. Raises NoIndex."""
    path = directory / DATABASE
    if not path.exists():
        raise NoIndex
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=_BUSY_S)
        try:
            connection.execute("BEGIN")
            found = _is_of(connection, identity)
        except sqlite3.Error:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise NoIndex(f"the index in {directory} cannot be read: {error}") from error
    if not found:
        connection.close()
        raise NoIndex(f"the index in {directory} is that of another log, or of another version: run `coordinator-server index`")
    return connection


def size_of(database: sqlite3.Connection) -> int:
    """Return the size of an index in bytes."""
    pages, free, page_bytes = (
        database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * page_bytes)


def damaged(directory: Path, error: sqlite3.Error) -> PipelineError:
    """Return the error for what SQLite cannot do."""
    return PipelineError(
        f"the index in {directory} cannot be used: {error}; if it is damaged, remove the directory, and run it again"
    )


def _opened(path: Path, identity: str) -> sqlite3.Connection:
    connection = _connected(path)
    if _is_of(connection, identity):
        return connection
    connection.close()
    # Readers that have it open keep the old one.
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    connection = _connected(path)
    connection.executescript(f"BEGIN;{_TABLES}PRAGMA user_version={FORMAT};COMMIT;")
    connection.execute("INSERT INTO source VALUES (?)", (identity,))
    return connection


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_S)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


def _is_of(connection: sqlite3.Connection, identity: str) -> bool:
    if connection.execute("PRAGMA user_version").fetchone() != (FORMAT,):
        return False
    return bool(connection.execute("SELECT identity FROM source").fetchone() == (identity,))
