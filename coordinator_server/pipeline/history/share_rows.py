"""Converts the new records of share partitions (KIP-932) to rows of ``share_state``, record by record.

A row has the state after its record, so the state before the first new record is replayed first. Topics have ids in these records;
the catalog's log has their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile
from coordinator_server.log.opening import job_shard
from coordinator_server.machine.provenance import attributed
from coordinator_server.pipeline.history.extract import Tables, as_tables, no_rows
from coordinator_server.pipeline.history.new_records import FilePart, NewRecords
from coordinator_server.pipeline.history.rows import LogPosition, Row, operation_of
from coordinator_server.pipeline.input.files import batches_before, read_windows, records_of
from coordinator_server.pipeline.input.topic_names import TopicNames
from coordinator_server.pipeline.states.share_steps import (
    DELIVERY_STATES,
    UNKNOWN_STATE,
    ShareStep,
    ShareSteps,
    counts_of,
)
from coordinator_server.share.state_batches import NO_START_OFFSET
from protocol.coordinator_records import SHARE_SERDE
from protocol.errors import DecodeError
from protocol.fields import uuid_text
from protocol.record_batch import BatchHeader

# Number of rows, and of the batches in them, that are converted at a time: a row takes more than a kilobyte.
ROWS_AT_ONCE: Final = 1 << 15
_UNKNOWN_COUNT: Final = -1

FileBatch = tuple[bytes, int, BatchHeader]


def share_tables(shard: NewRecords, names: TopicNames) -> Iterator[tuple[int, Tables]]:
    """Return the rows of a shard's new records, in pieces: the number of records, and their tables.

    Raises DamagedLog with file and position.
    """
    steps = ShareSteps()
    _replay_before(shard, steps)
    rows, count, size = no_rows(), 0, 0
    for part in shard.parts:
        for data, position, header, at in read_windows(part.file):
            for row in _rows_of_batch(shard.number, part, (data, position, header), at, steps, names):
                rows["share_state"].append(row)
                count += 1
                size += 1 + len(row["batches"])
            if size >= ROWS_AT_ONCE:
                yield count, as_tables(rows)
                rows, count, size = no_rows(), 0, 0
    if count:
        yield count, as_tables(rows)


def _replay_before(shard: NewRecords, steps: ShareSteps) -> None:
    """Replay the records before the first new one. If retention has removed segments, those that the layer has kept of them."""
    position = shard.parts[0].file.from_offset
    if not position:
        return
    if shard.gap is None:
        files: Iterable[InputFile] = job_shard(shard.directory).compacted(position)[1]
    else:
        files = [
            InputFile(part.file.path, 0, part.file.to_offset, is_dense=False) for part in shard.parts if not part.file.is_dense
        ]
    for data, at, header in batches_before(files, position):
        try:
            for record in records_of(data, at, header, with_headers=False):
                decoded = SHARE_SERDE.decode(record.key, record.value)
                if decoded is not None and record.offset < position:
                    steps.add(record.offset, decoded)
        except DecodeError as error:
            raise DamagedLog(shard.directory, 0, f"a record that cannot be read: {error}") from error


def _rows_of_batch(number: int, part: FilePart, batch: FileBatch, at: int, steps: ShareSteps, names: TopicNames) -> Iterator[Row]:
    """Return the rows of a batch, which is ``at`` a position of its file."""
    file = part.file
    if batch[2].is_control or batch[2].next_offset <= file.from_offset or batch[2].base_offset >= part.before:
        return
    try:
        for record, provenance in attributed(records_of(*batch)):
            decoded = SHARE_SERDE.decode(record.key, record.value)
            if decoded is None or not file.from_offset <= record.offset < part.before:
                continue
            step = steps.add(record.offset, decoded, is_kept=not file.is_dense)
            if step is not None:
                by = operation_of(provenance)
                position = LogPosition(number, record.offset, record.timestamp).row()
                yield position | _row(step, names) | {"reasons": by.reasons} | by.who
    except DecodeError as error:
        raise DamagedLog(file.path, at, f"a record that cannot be read: {error}") from error


def _row(step: ShareStep, names: TopicNames) -> Row:
    key, after = step.key, step.after
    row: dict[str, Any] = {
        "group_id": key.group_id,
        "topic": names.get(key.topic_id),
        "partition": key.partition,
        "topic_id": uuid_text(key.topic_id),
        "what": step.kind.value,
        "batches": [
            {
                "first_offset": each.first_offset,
                "last_offset": each.last_offset,
                "state": DELIVERY_STATES.get(each.delivery_state, UNKNOWN_STATE),
                "deliveries": each.delivery_count,
            }
            for each in step.batches
        ],
    }
    if after is not None:
        counts = counts_of(after)
        row |= {
            "start_offset": None if after.start_offset == NO_START_OFFSET else after.start_offset,
            "in_flight": counts.in_flight,
            "acknowledged": counts.acknowledged,
            "archived": counts.archived,
            "most_deliveries": counts.most_deliveries,
            "delivery_complete": None if after.delivery_complete_count == _UNKNOWN_COUNT else after.delivery_complete_count,
            "state_epoch": after.state_epoch,
            "leader_epoch": after.leader_epoch,
            "snapshot_epoch": after.snapshot_epoch,
        }
    return row
