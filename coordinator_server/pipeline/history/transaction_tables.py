"""Converts the new records of transactional ids to tables, record by record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from coordinator_server.log.errors import DamagedLog
from coordinator_server.pipeline.history.extract import Tables, as_tables, no_rows
from coordinator_server.pipeline.history.new_records import FilePart, NewRecords
from coordinator_server.pipeline.history.rows import Rows
from coordinator_server.pipeline.history.transaction_rows import Ended, TransactionRows, add_groups, begun_before, ended_rows
from coordinator_server.pipeline.input.files import read_batches
from coordinator_server.pipeline.transactions.transitions import transitions_of
from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader

# Number of records that are converted at a time. For each piece the groups' log is read once, from its oldest transaction on.
RECORDS_AT_ONCE: Final = 1 << 18


def transaction_tables(shards: Sequence[NewRecords]) -> Iterator[tuple[int, Tables]]:
    """Return the rows of new records, in pieces: the number of records, and their tables.

    Raises DamagedLog with file and position.
    """
    rows, ended, count = no_rows(), list[Ended](), 0
    for shard in shards:
        collected = TransactionRows(shard.number)
        for part in shard.parts:
            for batch in read_batches(part.file):
                count += _add_batch(collected, part, batch, rows)
                if count >= RECORDS_AT_ONCE:
                    yield count, _finished(shard, [*ended, *_taken(shard, collected)], rows)
                    rows, ended, count = no_rows(), [], 0
        ended += _taken(shard, collected)
    if count:
        yield count, _finished(shards[0], ended, rows)


def _add_batch(collected: TransactionRows, part: FilePart, batch: tuple[bytes, int, BatchHeader], rows: Rows) -> int:
    count = 0
    if batch[2].next_offset > part.file.from_offset and batch[2].base_offset < part.before:
        try:
            for step in transitions_of(*batch):
                if part.file.from_offset <= step.offset < part.before:
                    collected.add(step, rows)
                    count += 1
        except DecodeError as error:
            raise DamagedLog(part.file.path, batch[1], f"a record that cannot be read: {error}") from error
    return count


def _taken(shard: NewRecords, collected: TransactionRows) -> list[Ended]:
    """Return the transactions that have completed so far, each with its first record."""
    ended, collected.ended = collected.ended, []
    begun_before(shard.directory, shard.parts[0].file.from_offset, ended)
    return ended


def _finished(shard: NewRecords, ended: Sequence[Ended], rows: Rows) -> Tables:
    add_groups(Path(shard.directory).parent, shard.durable_groups, ended)
    rows["transactions"] += ended_rows(ended)
    return as_tables(rows)
