"""Converts the new records of transactional ids to tables, record by record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from coordinator_server.log.errors import DamagedLog
from coordinator_server.pipeline.history.extract import Tables, as_tables, no_rows
from coordinator_server.pipeline.history.new_records import FilePart, NewRecords
from coordinator_server.pipeline.history.rows import Rows
from coordinator_server.pipeline.history.transaction_rows import Ended, TransactionRows, begun_before, ended_rows
from coordinator_server.pipeline.history.written_groups import WrittenGroups
from coordinator_server.pipeline.input.files import read_windows
from coordinator_server.pipeline.transactions.transitions import transitions_of
from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader

# Number of records whose rows are converted at a time: each takes more than a kilobyte.
ROWS_AT_ONCE: Final = 1 << 15
# Number of transactions whose groups are looked for at a time: each takes some kilobytes.
ENDED_AT_ONCE: Final = 1 << 14


def transaction_tables(shards: Sequence[NewRecords]) -> Iterator[tuple[int, Tables]]:
    """Return the rows of new records, in pieces: the number of records, and their tables.

    Raises DamagedLog with file and position.
    """
    if not shards:
        return
    # Those of one run have the same partitions of the groups' log.
    groups = WrittenGroups(Path(shards[0].directory).parent, shards[0].durable_groups)
    rows, ended, count = no_rows(), list[Ended](), 0
    for shard in shards:
        collected = TransactionRows(shard.number)
        for part in shard.parts:
            for data, position, header, at in read_windows(part.file):
                count += _add_batch(collected, part, (data, position, header), at, rows)
                if count >= ROWS_AT_ONCE:
                    yield count, as_tables(rows)
                    rows, count = no_rows(), 0
                if len(ended) + len(collected.ended) >= ENDED_AT_ONCE:
                    yield 0, _finished([*ended, *_taken(shard, collected)], groups)
                    ended = []
        ended += _taken(shard, collected)
    yield count, as_tables(rows)
    yield 0, _finished(ended, groups)


def _add_batch(collected: TransactionRows, part: FilePart, batch: tuple[bytes, int, BatchHeader], at: int, rows: Rows) -> int:
    """Take the records of a batch, which is ``at`` a position of its file. Return their number."""
    count = 0
    if batch[2].next_offset > part.file.from_offset and batch[2].base_offset < part.before:
        try:
            for step in transitions_of(*batch):
                if part.file.from_offset <= step.offset < part.before:
                    collected.add(step, rows)
                    count += 1
        except DecodeError as error:
            raise DamagedLog(part.file.path, at, f"a record that cannot be read: {error}") from error
    return count


def _taken(shard: NewRecords, collected: TransactionRows) -> list[Ended]:
    """Return the transactions that have completed so far, each with its first record."""
    ended, collected.ended = collected.ended, []
    begun_before(shard.directory, shard.parts[0].file.from_offset, ended)
    return ended


def _finished(ended: Sequence[Ended], groups: WrittenGroups) -> Tables:
    groups.find(ended)
    return as_tables(no_rows() | {"transactions": list(ended_rows(ended))})
