"""A commit as a block, of objects or of rows, leaves the state that its records leave, one by one."""

from __future__ import annotations

from collections.abc import Iterable
from struct import pack
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.block import RecordBlock
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.commit import commit_offsets, commit_rows
from coordinator_server.offsets.delete import tombstone
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.plain_commits import CommitShape, CommitTopic, PlainCommit, partitions_of

NOW_MS = 1_700_000_000_000

# Few names and partitions, so that commits meet; a partition may come twice in one request.
PARTITIONS = st.builds(
    OffsetCommitRequestPartition, st.integers(0, 6), st.integers(0, 2**63 - 1), st.integers(-1, 3), st.sampled_from(["", None])
)
TOPICS = st.builds(
    OffsetCommitRequestTopic,
    st.sampled_from(["a", "b"]),
    st.sampled_from([ZERO_UUID, bytes(range(16))]),
    st.lists(PARTITIONS, min_size=1, max_size=8),
)
REQUESTS = st.builds(OffsetCommitRequest, group_id=st.sampled_from(["g", "h"]), topics=st.lists(TOPICS, min_size=1, max_size=3))
# The same with metadata.
NOTED_PARTITIONS = st.builds(
    OffsetCommitRequestPartition,
    st.integers(0, 6),
    st.integers(0, 2**63 - 1),
    st.integers(-1, 3),
    st.sampled_from(["", None, "note", "é" * 100]),
)
NOTED = st.builds(
    OffsetCommitRequest,
    group_id=st.sampled_from(["g", "h"]),
    topics=st.lists(
        st.builds(
            OffsetCommitRequestTopic,
            st.sampled_from(["a", "b"]),
            st.sampled_from([ZERO_UUID, bytes(range(16))]),
            st.lists(NOTED_PARTITIONS, min_size=1, max_size=8),
        ),
        min_size=1,
        max_size=3,
    ),
)
# What happens to a shard between operations: "snapshot" a batch begins, "durable" it got there, "revert" it did not; or somebody reads.
EVENTS = st.sampled_from(["snapshot", "durable", "revert", "read"])


# An administrator's tombstone, by group, topic and partition.
TOMBSTONES = st.tuples(st.sampled_from(["g", "h"]), st.sampled_from(["a", "b"]), st.integers(0, 6))
Step = OffsetCommitRequest | tuple[str, str, int] | str


def as_rows(request: OffsetCommitRequest) -> PlainCommit:
    """The request as its bytes have it."""
    shape = CommitShape(9, request.group_id, 1, "m", None)
    plain = PlainCommit(shape, [], [])
    for topic in request.topics:
        rows = b"".join(
            [
                pack(">iqi2x", each.partition_index, each.committed_offset, each.committed_leader_epoch)
                for each in topic.partitions
            ]
        )
        plain.rows.append(rows)
        plain.topics = [*plain.topics, CommitTopic(request.group_id, topic.name, topic.topic_id, partitions_of(rows))]
    return plain


class Side:
    """A store, and how commits get into it."""

    def __init__(self, way: Literal["records", "block", "rows"]) -> None:
        self.registry = SnapshotRegistry()
        self.store = OffsetStore(self.registry)
        self.offset = 0
        self._way = way

    def commit(self, request: OffsetCommitRequest) -> None:
        if self._way == "rows":
            records = commit_rows(self.store, as_rows(request), NOW_MS).records
        else:
            records = commit_offsets(self.store, request, NOW_MS, 4096).records
        if self._way != "records" and isinstance(records, RecordBlock):
            records.replay(self.offset)
            self.offset += len(records)
        else:
            self.replay(records)

    def replay(self, records: Iterable[CoordinatorRecord]) -> None:
        for record in records:
            assert isinstance(record.key, OffsetCommitKey)
            assert isinstance(record.value, OffsetCommitValue | None)
            self.store.replay(self.offset, record.key, record.value)
            self.offset += 1

    def happen(self, event: str) -> None:
        match event:
            case "snapshot":
                self.registry.snapshot(self.offset)
            case "durable":
                self.registry.delete_up_to(self.offset)
            case "revert" if self.registry.epochs:
                self.offset = self.registry.epochs[0]
                self.registry.revert_to(self.offset)
            case "read":
                for offsets in self.store.by_group.values():
                    len(offsets)

    def take(self, step: Step) -> None:
        if isinstance(step, str):
            self.happen(step)
        elif isinstance(step, tuple):
            self.replay([tombstone(*step)])
        else:
            self.commit(step)

    def state(self, at: int) -> dict[str, Any]:
        return {group: dict(offsets.items_at(at)) for group, offsets in self.store.by_group.items_at(at)}

    def looked_up(self, at: int) -> list[Any]:
        """As a fetch does it."""
        known = [self.store.of_group_at(group, at) for group in ("g", "h")]
        return [
            None if offsets is None else offsets.as_of(at).get((topic, index))
            for offsets in known
            for topic in ("a", "b")
            for index in range(7)
        ]


@given(st.lists(REQUESTS | EVENTS | TOMBSTONES, max_size=12), st.sampled_from(["block", "rows"]))
def test_a_block_leaves_what_its_records_leave(steps: list[Step], way: Literal["block", "rows"]) -> None:
    """Now, at every earlier offset that can still be read, and after a revert; whether somebody has read it in between or not."""
    one, other = Side(way), Side("records")
    for step in steps:
        one.take(step)
        other.take(step)
        assert one.offset == other.offset
        for at in (*one.registry.epochs, one.offset):
            assert one.state(at) == other.state(at)
    for at in (*one.registry.epochs, one.offset):
        assert one.looked_up(at) == other.looked_up(at)


@given(st.lists(NOTED | EVENTS | TOMBSTONES, max_size=12))
def test_a_block_with_metadata_leaves_what_its_records_leave(steps: list[Step]) -> None:
    """As one without."""
    one, other = Side("block"), Side("records")
    for step in steps:
        one.take(step)
        other.take(step)
        for at in (*one.registry.epochs, one.offset):
            assert one.state(at) == other.state(at)


@given(NOTED)
def test_a_block_stands_for_the_records_of_the_general_way(request: OffsetCommitRequest) -> None:
    """That is taken when one partition is refused."""
    store = OffsetStore(SnapshotRegistry())
    block = commit_offsets(store, request, NOW_MS, 4096).records
    request.topics.append(OffsetCommitRequestTopic("z", partitions=[OffsetCommitRequestPartition(0, 5, -1, "x" * 5000)]))

    general = commit_offsets(store, request, NOW_MS, 4096)

    assert isinstance(block, RecordBlock)
    assert not isinstance(general.records, RecordBlock)
    assert list(block) == list(general.records)


def test_commits_of_other_partitions_each_time_do_not_pile_up() -> None:
    """A group takes about as much room as its single offsets would, however its commits are cut."""
    side = Side("rows")
    for size in range(1, 200):
        partitions = [OffsetCommitRequestPartition(index, size) for index in range(size % 20 + 1)]
        side.commit(OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic(f"t{size % 7}", partitions=partitions)]))

    _, rows = side.store.by_group["g"].containers

    assert isinstance(rows, dict)
    assert len(rows) <= 8 + 7 * 20 // 8


@given(REQUESTS)
def test_rows_stand_for_the_records_of_the_general_way(request: OffsetCommitRequest) -> None:
    """Who iterates over them, as a transaction does, gets those."""
    store = OffsetStore(SnapshotRegistry())
    general = list(commit_offsets(store, request, NOW_MS, 4096).records)

    rows = commit_rows(store, as_rows(request), NOW_MS).records

    assert list(rows) == general
    assert len(rows) == len(general)


def test_unusual_commits_are_no_blocks() -> None:
    """A block is for one offset or for many, with metadata or without; partitions that are refused and expiry times have no place in one."""
    many = [OffsetCommitRequestPartition(index, 5) for index in range(10)]
    noted = [*many, OffsetCommitRequestPartition(10, 5, -1, "note")]
    refused = [*many, OffsetCommitRequestPartition(10, 5, -1, "x" * 4097)]
    store = OffsetStore(SnapshotRegistry())

    def is_block(partitions: list[OffsetCommitRequestPartition], retention_ms: int = -1) -> bool:
        topics = [OffsetCommitRequestTopic("t", partitions=partitions)]
        request = OffsetCommitRequest("g", 1, "m", retention_time_ms=retention_ms, topics=topics)
        return isinstance(commit_offsets(store, request, 0, 4096).records, RecordBlock)

    assert [is_block(many), is_block(many[:1]), is_block(noted)] == [True, True, True]
    assert [is_block(refused), is_block(many, 1000)] == [False, False]
