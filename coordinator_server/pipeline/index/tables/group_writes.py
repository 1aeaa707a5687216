"""What transactions wrote for groups in the groups' log, and which of them are open there.

An open transaction is kept with its shard (``OpenWrites``); when its marker comes, each of its groups gets a row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.kinds import GROUPS
from coordinator_server.pipeline.replay.transaction_timeline import Hanging
from coordinator_server.pipeline.replay.transactions import OneTransaction
from coordinator_server.transaction.state import AT_REST
from coordinator_server.transaction.transaction import Transaction


class GroupWrite(Struct, array_like=True):
    """What a transaction has written for a group so far: the number of offsets, and when (ms)."""

    offsets: int
    first_ms: int
    last_ms: int


class OpenWrites(Struct, array_like=True):
    """An open transaction of a producer in a shard of the groups' log: its epoch, its first offset, its last time, its groups."""

    epoch: int
    first_offset: int
    last_ms: int
    groups: dict[str, GroupWrite] = {}


OpenProducers = dict[int, OpenWrites]
_OPEN: Final = msgspec.msgpack.Decoder(OpenProducers)
_LAST: Final = msgspec.msgpack.Decoder(Transaction)
decode_open = _OPEN.decode


def end_writes(
    database: sqlite3.Connection, where: tuple[int, int], found: OpenWrites, numbers: dict[str, int], ended: tuple[int, int, bool]
) -> None:
    """Write the outcome of a transaction: its shard and producer, with the numbers of its groups.

    ``ended`` is the offset and the time of its marker, and whether it commits.
    """
    shard, producer_id = where
    for group_id, each in found.groups.items():
        row = producer_id, each.first_ms, shard, numbers[group_id], found.first_offset, each.last_ms, each.offsets, *ended
        database.execute("INSERT OR REPLACE INTO group_writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


# --- reading


def open_writes(database: sqlite3.Connection) -> Iterator[tuple[str, int, OpenWrites]]:
    """Yield the transactions that are open in the groups' log, with the names of their shards and their producers."""
    rows: Iterable[tuple[str, bytes]] = database.execute("SELECT name, producers FROM shards ORDER BY shard")
    for name, producers in rows:
        if name.rpartition("-")[0] == GROUPS.topic:
            for producer_id, each in sorted(_OPEN.decode(producers).items()):
                yield name, producer_id, each


def hanging(database: sqlite3.Connection) -> list[Hanging]:
    """Return the transactions that are open in the groups' log, and in no transactional id's state."""
    waited_for: set[tuple[int, str]] = set()
    for (packed,) in database.execute("SELECT last FROM transactional_ids WHERE last IS NOT NULL"):
        last = _LAST.decode(packed)
        if last.state not in AT_REST:
            waited_for |= {(last.producer_id, f"{topic}-{index}") for topic, index in last.partitions}
    return [
        Hanging(name, producer_id, each.epoch, each.first_offset, each.last_ms, sorted(each.groups))
        for name, producer_id, each in open_writes(database)
        if (producer_id, name) not in waited_for
    ]


def groups_of_transaction(database: sqlite3.Connection, found: OneTransaction, opened: Iterable[OpenWrites]) -> list[str]:
    """Return the groups of which a transaction has moved offsets, up to its decision. ``opened``: what its producer has open."""
    until_ms = 2**62 if found.decided_ms is None else found.decided_ms
    rows: Iterable[tuple[str]] = database.execute(
        "SELECT DISTINCT g.id FROM group_writes w JOIN groups g ON g.group_no = w.group_no"
        " WHERE w.producer_id = ? AND w.first_ms BETWEEN ? AND ?",
        (found.producer_id, found.begun_ms, until_ms),
    )
    groups = {group for (group,) in rows}
    for each in opened:
        groups |= {group for group, write in each.groups.items() if found.begun_ms <= write.first_ms <= until_ms}
    return sorted(groups)
