"""Takes the batches of shards in the order of their offsets, each once, and gives them to the tables of their topic.

    begin      where a shard's batches begin, or go on
    take       the next batch: what is new of it waits
    flush      one transaction: what waits, the chunks that end with it, and the position of each shard

What was taken and not flushed is lost with the process; the position says so, and it is taken again.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from coordinator_server.kinds import GROUPS, SHARE_STATE, TRANSACTIONS
from coordinator_server.pipeline.index.chunk import CHUNK_BYTES
from coordinator_server.pipeline.index.groups import GroupRows
from coordinator_server.pipeline.index.moments import encoded, moment_at, moments_of
from coordinator_server.pipeline.index.shard_row import Position, ShardRow, insert_shard, read_shard, write_shard
from coordinator_server.pipeline.index.tables.end_offsets import take_samples
from coordinator_server.pipeline.index.tables.lags import write_group_lags
from coordinator_server.pipeline.index.tables.share_partitions import ShareRows
from coordinator_server.pipeline.index.tables.transactions import TransactionRows
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader

FLUSH_BYTES: Final = 8 << 20
TOPICS: Final = (GROUPS.topic, TRANSACTIONS.topic, SHARE_STATE.topic)
"""Of these topics an index has the contents."""


class IndexWriter:
    """Writes one index. ``names`` has the names of topics, as far as they are known when a chunk ends."""

    def __init__(self, database: sqlite3.Connection, names: NamesOfTopics, chunk_bytes: int = CHUNK_BYTES) -> None:
        self._database = database
        self._shards: dict[str, ShardRow] = {}
        self._groups = GroupRows(database, names, chunk_bytes)
        self._transactions = TransactionRows()
        self._share = ShareRows()
        self._size = 0

    def position(self, shard: str) -> Position | None:
        """Return how far a shard is read; None if nothing of it was."""
        found = self._shard(shard)
        return None if found is None else found.position

    def begin(self, shard: str, begins_at: int) -> None:
        """Begin a shard, from nothing. Its history begins at an offset: what is taken before that is what compaction has kept."""
        self.flush()
        self._begin()
        self._forget(shard)
        insert_shard(self._database, shard, begins_at)
        self.flush()

    def take(self, shard: str, batch: tuple[bytes, int, BatchHeader], place: str = "") -> None:
        """Take the next verified batch of a shard that has begun. One that was taken before is left out. Raises DecodeError."""
        data, position, header = batch
        found = self._shard(shard)
        assert found is not None, shard
        if header.base_offset < found.position.next_offset:
            return
        self._begin()
        for moment in moments_of(data, position, header, found.latest_ms):
            found.latest_ms = moment.at_ms
            found.moments.append(moment)
        if found.topic == GROUPS.topic:
            self._groups.take(found, batch)
        else:
            self._take_other(found, batch)
        if header.is_lost and header.base_offset >= found.begins_at:
            found.lost_to = header.next_offset
        found.position = Position(header.next_offset, header.base_offset, header.crc, place)
        self._size += header.size
        if self._size >= FLUSH_BYTES:
            self.flush()

    def _take_other(self, shard: ShardRow, batch: tuple[bytes, int, BatchHeader]) -> None:
        """Take a batch of transactions or of share partitions. One that cannot be read stops no other: it is counted."""
        try:
            if shard.topic == TRANSACTIONS.topic:
                self._transactions.take(self._database, shard.number, batch)
            else:
                self._share.take(self._database, shard.number, batch, is_kept=batch[2].base_offset < shard.begins_at)
        except DecodeError:
            shard.unreadable += 1

    def take_samples(self, data_dir: Path) -> None:
        """Take the new samples of end offsets, and write the lag of each group that follows from them and the shards."""
        self.flush()
        # In one transaction: whoever is stopped between would not know that there were new samples.
        self._begin()
        write_group_lags(self._database, is_sampled=take_samples(self._database, data_dir))
        self.flush()

    def reach(self, shard: str, offset: int) -> None:
        """Note that a shard has nothing before an offset that was not taken."""
        found = self._shard(shard)
        assert found is not None, shard
        if found.position.next_offset < offset:
            found.position = found.position._replace(next_offset=offset)

    def forget_before(self, shard: str, offset: int) -> None:
        """Forget what happened before an offset, where a shard's history begins now; of chunks those that are older as a whole."""
        found = self._shard(shard)
        assert found is not None, shard
        if offset <= found.begins_at:
            return
        self._begin()
        found.begins_at = offset
        self._database.execute("UPDATE shards SET begins_at = ? WHERE shard = ?", (offset, found.number))
        at_ms = moment_at(self._database, found.number, offset)
        self._groups.forget_before(found.number, offset, at_ms)
        self._transactions.forget_before(self._database, found.number, offset)
        self._share.forget_before(self._database, found.number, at_ms)

    def flush(self) -> None:
        """Commit what was taken. After an error the writer is of no more use, and what it has not committed is lost."""
        database = self._database
        self._begin()
        self._groups.flush()
        self._transactions.flush(database)
        self._share.flush(database)
        for shard in self._shards.values():
            if shard.moments:
                row = shard.number, shard.moments[0].at_ms, encoded(shard.moments)
                database.execute("INSERT INTO moments VALUES (?, ?, ?)", row)
                shard.moments = []
            write_shard(database, shard)
        database.execute("COMMIT")
        self._size = 0

    def _begin(self) -> None:
        """Begin a transaction, if none is open."""
        if not self._database.in_transaction:
            self._database.execute("BEGIN IMMEDIATE")

    def _shard(self, name: str) -> ShardRow | None:
        found = self._shards.get(name)
        if found is None:
            found = read_shard(self._database, name)
            if found is not None:
                self._shards[name] = found
        return found

    def _forget(self, name: str) -> None:
        """Remove all rows of a shard."""
        found = self._shards.pop(name, None) or read_shard(self._database, name)
        if found is None:
            return
        self._groups.forget(found.number)
        self._transactions.forget(self._database, found.number)
        self._share.forget(self._database, found.number)
        for table in ("moments", "shards"):
            self._database.execute(f"DELETE FROM {table} WHERE shard = ?", (found.number,))
