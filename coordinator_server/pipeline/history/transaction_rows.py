"""Rows of transactional ids: every transition, every epoch of a producer, and every transaction that has completed.

A transaction is a row when it has completed, at the position of that record. Its earlier records may have been read by an earlier
run, or belong to a file that this run has read long ago; then they are read again (``begun_before``). The groups whose offsets a
transaction moved are in the groups' log. All its markers are durable before it has completed, so that log has what it wrote, up
to where it is durable (``durable_in_order`` of ``new_records.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from coordinator_server.kinds import GROUPS
from coordinator_server.log.opening import job_shard
from coordinator_server.machine.provenance import Provenance
from coordinator_server.pipeline.history.rows import Row, Rows, operation_of
from coordinator_server.pipeline.history.tables import BY
from coordinator_server.pipeline.input.files import batches_before, files_since
from coordinator_server.pipeline.transactions.group_writes import EndedWrites, Marker
from coordinator_server.pipeline.transactions.transitions import (
    EndReason,
    Transition,
    end_reason,
    group_partitions,
    partition_names,
    transitions_of,
)
from coordinator_server.transaction.state import PREPARED, TransactionState
from coordinator_server.transaction.transaction import FIRST_WITH_EPOCH_BUMP, NO_PRODUCER_ID, Transaction

INITIALIZED: Final = "initialized"
TRANSACTION_ENDED: Final = "transaction-ended"
EPOCHS_USED_UP: Final = "epochs-used-up"
UNUSED: Final = "unused"


class Ended(Struct, eq=False):
    """A transaction: its first record, the one that decides it, and the one that completes it."""

    shard: int
    transactional_id: str
    start_ms: int
    begun: Transition | None = None
    decided: Transition | None = None
    completed: Transition | None = None
    groups: list[Row] = []

    def add(self, step: Transition) -> None:
        """Take a record of the transaction. Of several that look like the first, the first one counts."""
        assert step.after is not None
        if step.after.state in PREPARED:
            self.decided = step
        elif step.after.state is not TransactionState.ONGOING:
            self.completed = step
        elif self.begun is None and step.after.update_ms == step.after.start_ms:
            self.begun = step

    @property
    def is_whole(self) -> bool:
        return self.decided is not None and (self.begun is not None or self.is_nothing)

    @property
    def is_nothing(self) -> bool:
        """Whether no transaction had begun. In version 2 an abort of nothing gives the producer its next epoch."""
        after = self.decided.after if self.decided is not None else None
        return self.begun is None and after is not None and after.start_ms == after.update_ms and not after.partitions

    def is_ended_by(self, marker: Marker) -> bool:
        """Return whether a marker ends this transaction. In version 1 all transactions of an epoch have the same one."""
        if self.decided is None or self.decided.after is None or self.completed is None:
            return False
        after = self.decided.after
        if (marker.epoch, marker.is_commit) != (after.producer_epoch, after.state is TransactionState.PREPARE_COMMIT):
            return False
        is_only_one = after.client_version >= FIRST_WITH_EPOCH_BUMP
        return is_only_one or self.decided.at_ms <= marker.at_ms <= self.completed.at_ms

    def add_groups(self, written: EndedWrites) -> None:
        """Take what it wrote in one partition of the groups' log."""
        self.groups += [
            {"group_id": group_id, "offsets": found.offsets, "since": found.since_ms, "until": written.marker.at_ms}
            for group_id, found in written.groups.items()
        ]


class TransactionRows:
    """Collects the rows of one shard of transactional ids.

    ``ended`` has the transactions that have completed since it was emptied.
    """

    def __init__(self, shard: int) -> None:
        self.ended: list[Ended] = []
        self._shard = shard
        self._open: dict[str, Ended] = {}

    def add(self, step: Transition, rows: Rows) -> None:
        """Take the next record, and add its rows."""
        who = operation_of(step.by).who
        position = {
            "shard": self._shard,
            "log_offset": step.offset,
            "time": step.at_ms,
            "transactional_id": step.transactional_id,
        }
        origin = {name: who[name] for name in BY.names}
        rows["transitions"].append(position | _state(step) | origin)
        epoch = _epoch(step)
        if epoch is not None:
            rows["producers"].append(position | epoch | origin)
        if step.after is None:
            self._open.pop(step.transactional_id, None)
        elif step.after.state is not TransactionState.EMPTY:
            self._follow(step, step.after)

    def _follow(self, step: Transition, after: Transaction) -> None:
        known = self._open.get(step.transactional_id)
        if known is None or known.start_ms != after.start_ms:
            known = self._open[step.transactional_id] = Ended(self._shard, step.transactional_id, after.start_ms)
        known.add(step)
        if known.completed is not None:
            self.ended.append(self._open.pop(step.transactional_id))


def begun_before(place: str, position: int, ended: Iterable[Ended]) -> None:
    """Find the first records of transactions in the log before an offset, as far as it is kept."""
    wanted = {(each.transactional_id, each.start_ms): each for each in ended if not each.is_whole}
    if not wanted or not position:
        return
    files = files_since(job_shard(place).whole(position)[1], min(start_ms for _, start_ms in wanted))
    for batch in batches_before(files, position):
        for step in transitions_of(*batch):
            if step.after is not None and step.offset < position:
                known = wanted.get((step.transactional_id, step.after.start_ms))
                if known is not None and (step.after.state in PREPARED or step.after.state is TransactionState.ONGOING):
                    # The steps that are known already come later.
                    decided = known.decided
                    known.add(step)
                    known.decided = decided or known.decided


def ended_rows(ended: Iterable[Ended]) -> Iterator[Row]:
    """Return the rows of transactions."""
    for each in ended:
        if each.completed is not None and each.completed.after is not None and not each.is_nothing:
            yield _ended_row(each, each.completed, each.completed.after)


def _ended_row(ended: Ended, completed: Transition, after: Transaction) -> Row:
    decided = ended.decided.after if ended.decided is not None else None
    # Not the id that the producer gets if it has used up its epochs. A log of old brokers may not name the one before.
    producer_id = after.producer_id if after.previous_producer_id == NO_PRODUCER_ID else after.previous_producer_id
    epochs: Row = {"producer_id": producer_id, "producer_epoch": None, "marker_epoch": None}
    partitions = None
    if decided is not None:
        is_bumped = decided.client_version >= FIRST_WITH_EPOCH_BUMP
        epochs = {
            "producer_id": decided.producer_id,
            "producer_epoch": decided.producer_epoch - is_bumped,
            "marker_epoch": decided.producer_epoch,
        }
        groups = {f"{GROUPS.topic}-{index}" for index in group_partitions(decided)}
        partitions = [name for name in partition_names(decided) if name not in groups]
    decided_by = ended.decided.by if ended.decided is not None else None
    return epochs | {
        "shard": ended.shard,
        "log_offset": completed.offset,
        "time": completed.at_ms,
        "transactional_id": ended.transactional_id,
        "timeout_ms": after.timeout_ms,
        "began": _time(ended.start_ms),
        "decided": ended.decided.at_ms if ended.decided is not None else None,
        "outcome": "committed" if after.state is TransactionState.COMPLETE_COMMIT else "aborted",
        "why": end_reason(decided_by),
        "groups": sorted(ended.groups, key=lambda each: str(each["group_id"])),
        "partitions": partitions,
        "began_by": _by(ended.begun.by if ended.begun is not None else None),
        "ended_by": _by(decided_by),
    }


def _state(step: Transition) -> Row:
    """Return the columns of ``transitions``."""
    after = step.after
    if after is None:
        return {"state": None, "why": UNUSED}
    is_open = after.state is TransactionState.ONGOING or after.state in PREPARED
    return {
        "state": after.state.label,
        "producer_id": after.producer_id,
        "producer_epoch": after.producer_epoch,
        "timeout_ms": after.timeout_ms,
        "began": _time(after.start_ms) if is_open else None,
        "partitions": partition_names(after),
        "why": end_reason(step.by) if after.state in PREPARED else None,
    }


def _epoch(step: Transition) -> Row | None:
    """Return the columns of ``producers``, if the record gives a new epoch or is the last one of an id."""
    after = step.after
    if after is None:
        return {"why": UNUSED}
    why: str | None = None
    if after.state in PREPARED:
        reason = end_reason(step.by)
        if after.client_version >= FIRST_WITH_EPOCH_BUMP:
            why = TRANSACTION_ENDED if reason in (None, EndReason.PRODUCER) else reason
    elif after.state is not TransactionState.ONGOING:
        is_replaced = after.previous_producer_id not in (NO_PRODUCER_ID, after.producer_id)
        why = EPOCHS_USED_UP if is_replaced else INITIALIZED if after.state is TransactionState.EMPTY else None
    if why is None:
        return None
    epoch = {"producer_id": after.producer_id, "producer_epoch": after.producer_epoch}
    return epoch | {"why": why, "timeout_ms": after.timeout_ms}


def _by(by: Provenance | None) -> Row | None:
    if by is None:
        return None
    who = operation_of(by).who
    return {name: who[name] for name in BY.names}


def _time(ms: int) -> int | None:
    return ms if ms >= 0 else None
