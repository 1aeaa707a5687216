"""A shard as an index has it: how far it is read, and what its next batch needs of those before."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from coordinator_server.pipeline.index.moments import Moment
from coordinator_server.pipeline.index.tables import group_writes, lags

NO_BATCH: Final = msgspec.msgpack.encode({})


class Position(NamedTuple):
    """How far a shard is read. The last batch that was read is known by its first offset and its checksum.

    ``place`` is where it was found: a note of the feed's, for the feed.
    """

    next_offset: int
    last_base: int = -1
    last_crc: int = 0
    place: str = ""


class ShardRow(Struct):
    """A shard. ``unreadable`` is the number of batches with a record that cannot be read."""

    number: int
    topic: str
    begins_at: int
    position: Position
    latest_ms: int
    lost_to: int = 0
    unreadable: int = 0
    # Of a shard of groups, by producer: the open transactions, and the offsets that they have committed.
    producers: group_writes.OpenProducers = {}
    open_commits: lags.OpenCommits = {}
    moments: list[Moment] = []


def insert_shard(database: sqlite3.Connection, name: str, begins_at: int) -> None:
    """Write a shard of which nothing was read. Its history begins at an offset."""
    database.execute(
        "INSERT INTO shards (name, begins_at, next_offset, latest_ms, last_base, last_crc, place, lost_to, unreadable, producers,"
        " open_commits) VALUES (?, ?, 0, -1, -1, 0, '', 0, 0, ?, ?)",
        (name, begins_at, NO_BATCH, NO_BATCH),
    )


def read_shard(database: sqlite3.Connection, name: str) -> ShardRow | None:
    """Return a shard as it is stored; None if nothing of it was read."""
    row = database.execute(
        "SELECT shard, begins_at, latest_ms, lost_to, unreadable, producers, open_commits, next_offset, last_base, last_crc, place"
        " FROM shards WHERE name = ?",
        (name,),
    ).fetchone()
    if row is None:
        return None
    number, begins_at, latest_ms, lost_to, unreadable, producers, open_commits, *position = row
    is_open = group_writes.decode_open(producers), lags.decode_open(open_commits)
    return ShardRow(number, name.rpartition("-")[0], begins_at, Position(*position), latest_ms, lost_to, unreadable, *is_open)


def write_shard(database: sqlite3.Connection, shard: ShardRow) -> None:
    """Write what has changed of a shard; its moments are written elsewhere."""
    is_open = (msgspec.msgpack.encode(each) for each in (shard.producers, shard.open_commits))
    database.execute(
        "UPDATE shards SET next_offset = ?, last_base = ?, last_crc = ?, place = ?, latest_ms = ?, lost_to = ?, unreadable = ?,"
        " producers = ?, open_commits = ? WHERE shard = ?",
        (*shard.position, shard.latest_ms, shard.lost_to, shard.unreadable, *is_open, shard.number),
    )
