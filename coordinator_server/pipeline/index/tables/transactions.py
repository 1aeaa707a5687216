"""Each transaction of a transactional id: when it began and ended, what it moved, how and why it ended; and the state of ids."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from coordinator_server.pipeline.index.tables.group_writes import OpenWrites, groups_of_transaction, open_writes
from coordinator_server.pipeline.replay.transactions import OneTransaction, Transactions
from coordinator_server.pipeline.transactions.transitions import partition_names, transitions_of
from coordinator_server.transaction.state import AT_REST
from coordinator_server.transaction.transaction import Transaction
from protocol.record_batch import BatchHeader

_LAST: Final = msgspec.msgpack.Decoder(Transaction)
_COLUMNS: Final = (
    "begun_offset, begun_ms, decided_ms, ended_offset, ended_ms, outcome, reason, producer_id, producer_epoch, partitions,"
    " client_id, client_host"
)
_OPEN: Final = "ended_offset IS NULL"


class _Id(Struct):
    number: int
    transactions: Transactions


class TransactionRows:
    """Writes what the log of transactional ids has."""

    def __init__(self) -> None:
        self._ids: dict[str, _Id] = {}
        self._changed: set[str] = set()
        self._ended: list[tuple[int, OneTransaction]] = []

    def take(self, database: sqlite3.Connection, shard: int, batch: tuple[bytes, int, BatchHeader]) -> None:
        """Take the next batch of a shard. Raises DecodeError."""
        if batch[2].is_control:
            return
        for each in transitions_of(*batch):
            found = self._ids.get(each.transactional_id)
            if found is None:
                found = self._ids[each.transactional_id] = _stored(database, shard, each.transactional_id)
            self._ended += ((found.number, ended) for ended in found.transactions.add(each))
            self._changed.add(each.transactional_id)

    def flush(self, database: sqlite3.Connection) -> None:
        """Write what has changed, and forget it."""
        for number, ended in self._ended:
            _write(database, number, ended)
        for transactional_id in self._changed:
            found = self._ids[transactional_id]
            last, going_on = found.transactions.last, found.transactions.open
            if going_on is not None:
                _write(database, found.number, going_on)
            packed = None if last is None else msgspec.msgpack.encode(last)
            database.execute("UPDATE transactional_ids SET last = ? WHERE id_no = ?", (packed, found.number))
        self._ended, self._changed, self._ids = [], set(), {}

    def forget(self, database: sqlite3.Connection, shard: int) -> None:
        """Remove the rows of a shard. What is known was flushed."""
        ids = "(SELECT id_no FROM transactional_ids WHERE shard = ?)"
        database.execute(f"DELETE FROM transactions WHERE id_no IN {ids}", (shard,))
        database.execute("DELETE FROM transactional_ids WHERE shard = ?", (shard,))

    def forget_before(self, database: sqlite3.Connection, shard: int, offset: int) -> None:
        """Remove the transactions of a shard that have ended before an offset."""
        ids = "(SELECT id_no FROM transactional_ids WHERE shard = ?)"
        database.execute(f"DELETE FROM transactions WHERE ended_offset < ? AND id_no IN {ids}", (offset, shard))


def _stored(database: sqlite3.Connection, shard: int, transactional_id: str) -> _Id:
    """Return an id as the database has it, after the last flush; it is made if it is not there."""
    row = database.execute("SELECT id_no, last FROM transactional_ids WHERE id = ?", (transactional_id,)).fetchone()
    if row is None:
        new = database.execute("INSERT INTO transactional_ids (id, shard) VALUES (?, ?)", (transactional_id, shard)).lastrowid
        assert new is not None
        return _Id(new, Transactions())
    number, packed = row
    going_on = database.execute(f"SELECT {_COLUMNS} FROM transactions WHERE id_no = ? AND {_OPEN}", (number,)).fetchone()
    last = None if packed is None else _LAST.decode(packed)
    return _Id(number, Transactions(last, None if going_on is None else _decoded(going_on)))


def _write(database: sqlite3.Connection, number: int, found: OneTransaction) -> None:
    row = [json.dumps(each, ensure_ascii=False) if isinstance(each, list) else each for each in astuple(found)]
    marks = ", ?" * len(row)
    database.execute(f"INSERT OR REPLACE INTO transactions (id_no, {_COLUMNS}) VALUES (?{marks})", (number, *row))
    database.execute(f"INSERT OR REPLACE INTO transactions (id_no, {_COLUMNS}) VALUES (?{', ?' * len(row)})", (number, *row))


def _decoded(row: Sequence[Any]) -> OneTransaction:
    return OneTransaction(*(json.loads(each) if at == _PARTITIONS else each for at, each in enumerate(row)))


_PARTITIONS: Final = OneTransaction.__struct_fields__.index("partitions")


# --- reading


class IndexedTransaction(NamedTuple):
    """A transaction of an id, and the groups of which it has moved offsets."""

    transactional_id: str
    transaction: OneTransaction
    groups: list[str]


class TransactionalId(NamedTuple):
    """An id that is not forgotten: its state (Kafka's name) and what its last record has."""

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    update_ms: int
    partitions: list[str]


def transactions(
    database: sqlite3.Connection,
    *,
    transactional_id: str | None = None,
    since_ms: int = 0,
    until_ms: int = 2**62,
    is_open: bool | None = None,
    limit: int = -1,
) -> list[IndexedTransaction]:
    """Return the transactions that overlap a time, of one id or of all: the newest ``limit``, those first that began last.

    ``is_open`` chooses those that go on, or those that have ended.
    """
    where = ["begun_ms <= ?", "coalesce(ended_ms, ?) >= ?"]
    values: list[Any] = [until_ms, until_ms, since_ms]
    if transactional_id is not None:
        where.append("t.id_no = (SELECT id_no FROM transactional_ids WHERE id = ?)")
        values.append(transactional_id)
    if is_open is not None:
        where.append(_OPEN if is_open else "ended_offset IS NOT NULL")
    rows: Iterable[Sequence[Any]] = database.execute(
        f"SELECT i.id, {_COLUMNS} FROM transactions t JOIN transactional_ids i ON i.id_no = t.id_no"
        f" WHERE {' AND '.join(where)} ORDER BY begun_ms DESC, i.id, begun_offset DESC LIMIT ?",
        (*values, limit),
    ).fetchall()
    found = [(str(name), _decoded(rest)) for name, *rest in rows]
    opened: dict[int, list[OpenWrites]] = {}
    for _, producer_id, writes in open_writes(database):
        opened.setdefault(producer_id, []).append(writes)
    return [
        IndexedTransaction(name, each, groups_of_transaction(database, each, opened.get(each.producer_id, ())))
        for name, each in found
    ]


def transactional_ids(database: sqlite3.Connection) -> list[TransactionalId]:
    """Return all ids that are not forgotten, by name."""
    found = []
    rows: Iterable[tuple[str, bytes]] = database.execute(
        "SELECT id, last FROM transactional_ids WHERE last IS NOT NULL ORDER BY id"
    )
    for name, packed in rows:
        last = _LAST.decode(packed)
        moved = partition_names(last) if last.state not in AT_REST else []
        known = last.state.label, last.producer_id, last.producer_epoch, last.timeout_ms, last.update_ms
        found.append(TransactionalId(name, *known, moved))
    return found
