"""A shard's digest, however it is come by: kept up on the living shard from question to question, from a replay of its log, or of
a layer and the segments behind it. Random operations, some of which never become durable, and random moments of asking.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.shard import Producer, TransactionResult
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.compact.run import compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.input.sealing import seal
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.shard_states import replay
from coordinator_server.pipeline.states.groups import digest_of
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.record_batch import Record
from tests.support.group import GroupLog
from tests.support.imported import imported_records
from tests.support.replay import replay_batches
from tests.support.resting import MemoryCheckpoint, Records
from tests.support.segments import START_MS, Batch, append_segments, encode, write_meta, write_segments

SHARD = "__consumer_offsets-7"
SOME = 3

group_ids = st.sampled_from(["g", "h", "i"])
members = st.lists(st.builds(MemberMetadata, st.sampled_from("abc"), client_id=st.sampled_from("xy")), max_size=2)
values = st.builds(OffsetCommitValue, st.integers(0, 3), st.integers(-1, 1), st.sampled_from(["", "note"]), st.integers(1, 2))
offsets = st.builds(
    CoordinatorRecord,
    st.builds(OffsetCommitKey, group_ids, st.sampled_from("tu"), st.integers(0, 2)),
    st.none() | values,
    st.just(4),
)
metadata = st.builds(
    CoordinatorRecord,
    st.builds(GroupMetadataKey, group_ids),
    st.none() | st.builds(GroupMetadataValue, generation=st.integers(0, 3), members=members),
    st.just(3),
)
# Of groups that have offsets, too, and of one that has nothing else.
imported = imported_records("gjjj")
operations = st.lists(offsets | offsets | metadata | imported, min_size=1, max_size=4)


class Open(Struct):
    """Offsets in an open transaction."""

    producer_id: int
    records: list[CoordinatorRecord]


class End(Struct):
    """The end of one."""

    producer_id: int
    result: TransactionResult


class Happens(Struct):
    """What becomes of all that is not durable yet."""

    is_durable: bool


class Rest(Struct):
    """A group comes to rest, if it may."""

    group_id: str


class Ask(Struct):
    """Somebody wants to know."""


producers = st.integers(1, 2)
turns = st.lists(
    operations
    | st.builds(Open, producers, st.lists(offsets, min_size=1, max_size=3))
    | st.builds(End, producers, st.sampled_from(TransactionResult))
    | st.builds(Happens, st.sampled_from([True, True, False]))
    | st.builds(Rest, group_ids)
    | st.builds(Ask),
    max_size=30,
)
Turn = list[CoordinatorRecord] | Open | End | Happens | Rest | Ask


class Living:
    """A shard as the runtime would treat it."""

    def __init__(self, resting: Records | None = None) -> None:
        self.registry = SnapshotRegistry()
        self.shard = GroupLog().build(self.registry)
        self.offset = self.durable_to = 0
        if resting is not None:
            self.shard.use_checkpoint(MemoryCheckpoint(resting, damaged=set()))
            self.offset = self.durable_to = len(resting)

    def write(self, turn: list[CoordinatorRecord] | Open | End) -> None:
        self.registry.snapshot(self.offset)
        if isinstance(turn, End):
            self.shard.replay_end_transaction_marker(Producer(turn.producer_id, 0), turn.result)
            self.offset += 1
        elif isinstance(turn, Open):
            for record in turn.records:
                self.shard.replay_in_transaction(Producer(turn.producer_id, 0), self.offset, record)
                self.offset += 1
        else:
            for record in turn:
                self.shard.replay(self.offset, record)
                self.offset += 1

    def settle(self, *, is_durable: bool) -> None:
        if is_durable:
            self.durable_to = self.offset
            self.registry.delete_up_to(self.offset)
        else:
            self.registry.revert_to(self.durable_to)
            self.offset = self.durable_to

    def digest(self) -> StateDigest:
        """In small pieces."""
        while (found := self.shard.digest(self.durable_to, SOME)) is None:
            pass
        return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.none() | st.lists(offsets, max_size=6), turns)
def test_a_living_shards_digest_is_that_of_its_durable_log(
    resting: list[CoordinatorRecord] | None, happenings: list[Turn]
) -> None:
    """Whenever it is asked, whatever is under way, and whether its groups rest in a checkpoint or not."""
    living = Living(_below(resting) if resting is not None else None)
    durable: list[list[CoordinatorRecord] | Open | End] = [resting] if resting else []
    under_way: list[list[CoordinatorRecord] | Open | End] = []
    for turn in [*happenings, Ask(), Happens(True), Ask()]:
        if isinstance(turn, Happens):
            living.settle(is_durable=turn.is_durable)
            durable += under_way if turn.is_durable else []
            under_way = []
        elif isinstance(turn, Ask):
            again = Living()
            for operation in durable:
                again.write(operation)
            again.settle(is_durable=True)
            assert living.digest() == again.digest()
        elif isinstance(turn, Rest):
            living.shard.groups.offsets.rest(turn.group_id, 3)
        else:
            living.write(turn)
            under_way.append(turn)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(operations, min_size=1, max_size=12), st.integers(0, 11))
def test_a_layer_and_its_tail_have_the_digest_of_the_whole_log(history: list[list[CoordinatorRecord]], cut: int) -> None:
    """Read from files by the pipeline, which is told nothing of the digest before."""
    batches = list(_batches(history))
    head, tail = batches[: max(1, cut)], batches[max(1, cut) :]
    data_dir = Path(tempfile.mkdtemp())
    try:
        write_meta(data_dir)
        write_segments(data_dir / SHARD, head, 2)
        with compaction_lock(data_dir):
            compact(plans(data_dir, seal(data_dir)), None, run_python, Progress())
        if tail:
            append_segments(data_dir / SHARD, tail)
        for segment in sorted((data_dir / SHARD).glob("*.log"))[:-1]:
            if int(segment.stem) < head[-1].records[-1].offset + 1:
                segment.unlink()
        [found] = replay(data_dir, [SHARD])
    finally:
        shutil.rmtree(data_dir)

    whole = digest_of(replay_batches(map(encode, batches)))
    living = Living()
    for operation in history:
        living.write(operation)
    living.settle(is_durable=True)
    assert found.digest == whole.digest == living.digest().digest
    assert {group.group_id: group.digest for group in found.groups} == whole.parts == living.digest().parts
    assert whole.offset == LATEST


def _below(records: list[CoordinatorRecord]) -> Records:
    found: Records = []
    for offset, record in enumerate(records):
        key, value = record.key, record.value
        assert isinstance(key, OffsetCommitKey)
        assert value is None or isinstance(value, OffsetCommitValue)
        found.append((offset, key, value))
    return found


def _batches(history: Iterable[list[CoordinatorRecord]]) -> Iterable[Batch]:
    offset = 0
    for operation in history:
        records = []
        for record in operation:
            key, value = GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record)
            records.append(Record(offset, START_MS + offset, key, value))
            offset += 1
        yield Batch(tuple(records))
