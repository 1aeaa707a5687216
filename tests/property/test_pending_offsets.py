"""Offsets in and out of transactions, against a definition that knows no state.

The offset of a position is that of the last record in the log that counts: one behind the position's last tombstone, and either
plain or of a transaction whose marker committed it. What is taken back was never there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator_server.machine.shard import Producer, TransactionResult
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.pending import PendingOffsets
from coordinator_server.offsets.store import OffsetStore
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue

GROUPS = ("g", "h")
POSITIONS = (("t", 0), ("t", 1))
LENGTHS = (5, 40)
PRODUCERS = (Producer(1, 0), Producer(2, 0), None)


class PendingRecord(NamedTuple):
    """A record of the log. A marker has a result, an offset a group and a position; a tombstone has no value."""

    producer: Producer | None
    result: TransactionResult | None = None
    group_id: str = ""
    position: tuple[str, int] = ("", 0)
    value: int | None = None


OFFSETS = st.builds(
    PendingRecord,
    st.sampled_from(PRODUCERS),
    st.none(),
    st.sampled_from(GROUPS),
    st.sampled_from(POSITIONS),
    st.one_of(st.integers(0, 99), st.integers(0, 99), st.none()),
)
MARKERS = st.builds(PendingRecord, st.sampled_from(PRODUCERS[:2]), st.sampled_from(TransactionResult))
# Mostly offsets: a sequence says little until there are several for one position.
KINDS = [OFFSETS] * 12 + [MARKERS] * 4 + [st.just("snapshot"), st.just("revert"), st.just("durable")]
STEPS = st.lists(st.sampled_from(KINDS).flatmap(lambda kind: kind), min_size=LENGTHS[0], max_size=LENGTHS[1])


def offset_of(log: list[PendingRecord], group_id: str, position: tuple[str, int]) -> tuple[int | None, bool]:
    """What is committed there, and whether an open transaction may change it."""
    mine = [at for at, each in enumerate(log) if (each.group_id, each.position) == (group_id, position)]
    start = max((at for at in mine if log[at].value is None), default=-1)
    counted: int | None = None
    is_open = False
    for at in (at for at in mine if at > start):
        record = log[at]
        if record.producer is not None:
            ends = [each.result for each in log[at:] if each.result is not None and each.producer == record.producer]
            is_open |= not ends
            if not ends or ends[0] is TransactionResult.ABORT:
                continue
        counted = record.value
    return counted, is_open


class Shard:
    """The state, the log that it stands for, and where each open snapshot is in it."""

    def __init__(self) -> None:
        self.registry = SnapshotRegistry()
        self.store = OffsetStore(self.registry)
        self.pending = PendingOffsets(self.registry, self.store)
        self.log: list[PendingRecord] = []
        self.durable = 0

    def write(self, record: PendingRecord) -> None:
        offset = len(self.log)
        self.log.append(record)
        if record.result is not None:
            assert record.producer is not None
            self.pending.end(record.producer, record.result)
            return
        key = OffsetCommitKey(record.group_id, *record.position)
        value = None if record.value is None else OffsetCommitValue(record.value)
        if record.producer is None:
            self.store.replay(offset, key, value)
        else:
            self.pending.replay(record.producer, offset, key, value)

    def revert(self) -> None:
        if self.registry.newest is not None:
            self.registry.revert_to(self.durable)
            del self.log[self.durable :]

    def commit(self) -> None:
        self.durable = len(self.log)
        self.registry.delete_up_to(self.durable)
        self.registry.snapshot(self.durable)

    def check_at(self, epoch: int, log: list[PendingRecord]) -> None:
        for group_id in GROUPS:
            offsets = self.store.of_group_at(group_id, epoch)
            open_positions = self.pending.open_at(group_id, epoch)
            for position in POSITIONS:
                found: Any = None if offsets is None else offsets.as_of(epoch).get(position)
                told = (None if found is None else found.committed_offset, position in open_positions)
                assert told == offset_of(log, group_id, position)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_an_offset_is_that_of_the_last_record_that_counts(steps: list[PendingRecord | str]) -> None:
    shard = Shard()
    shard.registry.snapshot(0)
    for step in steps:
        match step:
            case "snapshot":
                shard.registry.snapshot(len(shard.log))
            case "revert":
                shard.revert()
                shard.registry.snapshot(shard.durable)
            case "durable":
                shard.commit()
            case PendingRecord() as record:
                shard.write(record)
        shard.check_at(LATEST, shard.log)
        shard.check_at(shard.durable, shard.log[: shard.durable])
