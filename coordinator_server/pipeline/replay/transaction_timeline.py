"""Transactional ids over time, read from the logs: who began each transaction, what it moved, and how and why it ended.

The states come from ``__transaction_state``; the groups from the batches of the producer in ``__consumer_offsets``,
which name them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.kinds import GROUPS, TRANSACTIONS
from coordinator_server.log.jobs import JobShard
from coordinator_server.log.opening import identity_of, job_shard
from coordinator_server.machine.shard import Producer
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.input.files import batches_before, first_after
from coordinator_server.pipeline.input.owners import owner_of
from coordinator_server.pipeline.replay.transaction_steps import BEGUN, COMMIT_DECIDED, COMMITTED, PARTITIONS_ADDED, Step
from coordinator_server.pipeline.states.changes import change_of
from coordinator_server.pipeline.transactions.group_writes import ProducerBatch, producer_batches
from coordinator_server.pipeline.transactions.transitions import (
    EndReason,
    Transition,
    end_reason,
    partition_names,
    transitions_of,
)
from coordinator_server.runtime.producers import NO_OFFSET, ActiveProducer, Producers
from coordinator_server.transaction.state import AT_REST, PREPARED, TransactionState
from coordinator_server.transaction.transaction import Transaction
from protocol.control_records import ABORT, COMMIT, control_type, coordinator_epoch
from protocol.record_batch import NO_PRODUCER_ID, BatchHeader, iter_records

FORGOTTEN: Final = "forgotten"
_WHAT: Final[Mapping[TransactionState, str]] = {
    TransactionState.EMPTY: "producer",
    TransactionState.ONGOING: BEGUN,
    TransactionState.PREPARE_COMMIT: COMMIT_DECIDED,
    TransactionState.PREPARE_ABORT: "abort decided",
    TransactionState.COMPLETE_COMMIT: COMMITTED,
    TransactionState.COMPLETE_ABORT: "aborted",
}

_REASONS: Final[Mapping[EndReason, str]] = {
    EndReason.PRODUCER: "asked by its producer",
    EndReason.TIMEOUT: "open for too long",
    EndReason.FENCED: "fenced by a new producer",
    EndReason.ADMINISTRATOR: "asked by an administrator",
}


class Known(Struct):
    """A transactional id at a moment. Times are milliseconds; ``start_ms`` is -1 if no transaction is open."""

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_ms: int
    update_ms: int
    partitions: list[str]
    groups: list[str]


class Hanging(Struct):
    """A transaction that is open in a partition of the groups' log, and that no transactional id will end."""

    partition: str
    producer_id: int
    producer_epoch: int
    first_offset: int
    last_ms: int
    groups: list[str]


def shard_of(data_dir: Path, transactional_id: str) -> JobShard:
    """Return the shard that owns a transactional id."""
    return job_shard(data_dir / owner_of(identity_of(data_dir), TRANSACTIONS.topic, transactional_id))


def steps_of(data_dir: Path, transactional_id: str, ends: Mapping[str, int]) -> Iterator[Step]:
    """Return all changes of a transactional id that the history has, in order."""
    before: Transaction | None = None
    written = _Batches(data_dir, ends)
    for each in _transitions(shard_of(data_dir, transactional_id), ends, transactional_id):
        step = _step(each, before)
        if each.after is not None and each.after.partitions:
            step.groups = written.groups(each.after, each.at_ms)
        before = each.after
        yield step


def known_at(data_dir: Path, ends: Mapping[str, int], at_ms: int | None = None) -> list[Known]:
    """Return all transactional ids, as of the end of the log or of a moment."""
    found = _transactions(data_dir, ends, at_ms)
    written = _Batches(data_dir, ends)
    return [
        Known(
            transactional_id,
            each.state.label,
            each.producer_id,
            each.producer_epoch,
            each.timeout_ms,
            -1 if each.state in AT_REST else each.start_ms,
            each.update_ms,
            partition_names(each),
            written.groups(each, at_ms) if each.state not in AT_REST else [],
        )
        for transactional_id, each in sorted(found.items())
    ]


def hanging(data_dir: Path, ends: Mapping[str, int]) -> list[Hanging]:
    """Return the transactions that are open in the groups' log, and in no transactional id's state."""
    transactions = _transactions(data_dir, ends).values()
    waited_for = {
        (each.producer_id, name) for each in transactions if each.state not in AT_REST for name in partition_names(each)
    }
    written = _Batches(data_dir, ends)
    found = []
    for shard in _shards(data_dir, GROUPS.topic):
        for each in _open_producers(shard, ends):
            if (each.id, shard.name) not in waited_for:
                groups = sorted({name for one in written.of(shard.name, each.id) for name in one.groups})
                found.append(Hanging(shard.name, each.id, each.state.epoch, each.first_offset, each.state.last_ms, groups))
    return found


def _transactions(data_dir: Path, ends: Mapping[str, int], at_ms: int | None = None) -> dict[str, Transaction]:
    """Return the state of every transactional id, as of the end of the log or of a moment."""
    found: dict[str, Transaction] = {}
    for shard in _shards(data_dir, TRANSACTIONS.topic):
        for each in _transitions(shard, ends, at_ms=at_ms):
            if each.after is not None:
                found[each.transactional_id] = each.after
            else:
                found.pop(each.transactional_id, None)
    return found


class _Batches:
    """The batches of producers in the groups' log, read when they are first asked for."""

    def __init__(self, data_dir: Path, ends: Mapping[str, int]) -> None:
        self._data_dir = data_dir
        self._ends = ends
        self._read: dict[str, dict[int, list[ProducerBatch]]] = {}

    def of(self, shard: str, producer_id: int) -> list[ProducerBatch]:
        """Return the batches of a producer in a shard, in order."""
        if shard not in self._read:
            self._read[shard] = self._all(job_shard(self._data_dir / shard))
        return self._read[shard].get(producer_id, [])

    def groups(self, transaction: Transaction, upto_ms: int | None) -> list[str]:
        """Return the groups that have written in the transaction by then."""
        found: set[str] = set()
        for name in partition_names(transaction):
            batches = self.of(name, transaction.producer_id) if name.startswith(f"{GROUPS.topic}-") else []
            # The batches of a producer are in the order of time.
            for each in islice(batches, bisect_left(batches, transaction.start_ms, key=attrgetter("at_ms")), None):
                if upto_ms is not None and each.at_ms > upto_ms:
                    break
                found.update(each.groups)
        return sorted(found)

    def _all(self, shard: JobShard) -> dict[int, list[ProducerBatch]]:
        found: dict[int, list[ProducerBatch]] = {}
        for each in producer_batches(_batches(shard, self._ends)):
            if isinstance(each, ProducerBatch):
                found.setdefault(each.producer_id, []).append(each)
        return found


def _step(each: Transition, before: Transaction | None) -> Step:
    after = each.after
    by = None if each.by is None else change_of(each.offset, each.at_ms, each.by)
    if after is None:
        return Step(each.at_ms, FORGOTTEN, why="not used for transactional.id.expiration.ms", by=by)
    what = _WHAT[after.state]
    if after.state is TransactionState.ONGOING and before is not None and before.state is TransactionState.ONGOING:
        what = PARTITIONS_ADDED
    why = _why(end_reason(each.by), before) if after.state in PREPARED else ""
    return Step(each.at_ms, what, after.producer_id, after.producer_epoch, partition_names(after), why=why, by=by)


def _why(reason: EndReason | None, before: Transaction | None) -> str:
    """Return in words why a transaction ends."""
    if reason is EndReason.TIMEOUT and before is not None:
        return f"open for longer than its {before.timeout_ms} ms"
    return "" if reason is None else _REASONS[reason]


def _shards(data_dir: Path, topic: str) -> Iterator[JobShard]:
    for partition in range(identity_of(data_dir).partition_count(topic)):
        shard = job_shard(data_dir / f"{topic}-{partition}")
        if shard.exists():
            yield shard


def _batches(shard: JobShard, ends: Mapping[str, int]) -> Iterable[tuple[bytes, int, BatchHeader]]:
    upto = ends.get(shard.name, 0)
    return batches_before(shard.whole(upto)[1], upto) if shard.exists() else ()


def _transitions(
    shard: JobShard, ends: Mapping[str, int], transactional_id: str | None = None, at_ms: int | None = None
) -> Iterator[Transition]:
    """Yield the records of a shard of transactional ids, up to those after a moment."""
    for data, position, header in _batches(shard, ends):
        end = LATEST if at_ms is None else first_after(data, position, header, at_ms)
        for each in transitions_of(data, position, header):
            if transactional_id in (None, each.transactional_id) and (end is None or each.offset < end):
                yield each
        if end not in (None, LATEST):
            return


def _open_producers(shard: JobShard, ends: Mapping[str, int]) -> list[ActiveProducer]:
    """Return the producers with an open transaction in a shard of the groups' log, from the headers of its batches."""
    producers = Producers(SnapshotRegistry())
    for data, position, header in _batches(shard, ends):
        if header.producer_id == NO_PRODUCER_ID:
            continue
        producer = Producer(header.producer_id, header.producer_epoch)
        if not header.is_control:
            producers.append(producer, header.base_offset, header.max_timestamp, header.last_sequence)
            continue
        for record in iter_records(data, position, header):
            if control_type(record.key) in (ABORT, COMMIT):
                producers.end(producer, record.offset, header.max_timestamp, coordinator_epoch(record.value))
    return [each for each in producers.active_at(LATEST) if each.first_offset != NO_OFFSET]
