"""A commit as a block, plain or decoded, writes what its records write and leaves the state that they leave, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.block import BlockSequence, RecordBlock
from coordinator_server.machine.provenance import operation_headers, request_origin
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.offsets.block import Tombstones
from coordinator_server.offsets.commit import commit_records, plain_commit_records
from coordinator_server.offsets.commit_topic import PlainTopic
from coordinator_server.offsets.delete import tombstone
from coordinator_server.offsets.logged_shape import LoggedShape
from coordinator_server.offsets.store import OffsetStore
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.commit_rows import partitions_of
from protocol.coordinator_records import CLASSIC_GROUP_SERDE, CoordinatorRecord
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.plain_commits import PlainCommit
from tests.support.commit_rows import rows_of

NOW_MS = 1_700_000_000_000
METADATA_MAX = 4096
ORIGIN = request_origin(8, 9, "client", "host")

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
# The same with metadata, some of which is refused.
NOTED_PARTITIONS = st.builds(
    OffsetCommitRequestPartition,
    st.integers(0, 6),
    st.integers(0, 2**63 - 1),
    st.integers(-1, 3),
    st.sampled_from(["", None, "note", "é" * 100, "x" * (METADATA_MAX + 1)]),
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
# What happens to a shard between operations: "snapshot" a batch begins, "durable" it got there,
# "revert" it did not; or somebody reads.
EVENTS = st.sampled_from(["snapshot", "durable", "revert", "read"])


# An administrator's tombstone, by group, topic and partition.
TOMBSTONES = st.tuples(st.sampled_from(["g", "h"]), st.sampled_from(["a", "b"]), st.integers(0, 6))
Step = OffsetCommitRequest | tuple[str, str, int] | str
# How a request was read.
Way = Literal["decoded", "plain"]
WAYS: st.SearchStrategy[Way] = st.sampled_from(["decoded", "plain"])


def plain(request: OffsetCommitRequest) -> PlainCommit[LoggedShape]:
    """The request as its bytes have it."""
    shape = LoggedShape(9)
    shape.begin(request.group_id, 1, request.member_id, request.group_instance_id)
    rows = [rows_of(topic.partitions) for topic in request.topics]
    shape.log_as(
        [
            PlainTopic(request.group_id, topic.name, topic.topic_id, partitions_of(each))
            for topic, each in zip(request.topics, rows, strict=True)
        ]
    )
    return PlainCommit(shape, rows)


@pytest.mark.parametrize(("member_id", "instance_id"), [("m", None), ("m", "i"), ("", None)])
def test_a_plain_commit_is_attributed_to_its_member(member_id: str, instance_id: str | None) -> None:
    """As any other commit is."""
    topics = [OffsetCommitRequestTopic("a", partitions=[OffsetCommitRequestPartition(0, 5)])]
    request = OffsetCommitRequest("g", 1, member_id, instance_id, topics=topics)
    store = OffsetStore(SnapshotRegistry())

    results = (plain_commit_records(store, plain(request), NOW_MS), commit_records(store, request, NOW_MS, METADATA_MAX))

    expected = operation_headers(ORIGIN, speaking_for(member_id, instance_id))
    assert [operation_headers(ORIGIN, result.attribution) for result in results] == [expected] * 2


def single_records(request: OffsetCommitRequest) -> list[CoordinatorRecord]:
    """What the request comes to, partition by partition."""
    return [
        CoordinatorRecord(
            OffsetCommitKey(request.group_id, topic.name, each.partition_index),
            OffsetCommitValue(
                each.committed_offset,
                each.committed_leader_epoch,
                each.committed_metadata or "",
                NOW_MS,
                topic_id=topic.topic_id,
            ),
            4,
        )
        for topic in request.topics
        for each in topic.partitions
        if len(each.committed_metadata or "") <= METADATA_MAX
    ]


def block_of(store: OffsetStore, request: OffsetCommitRequest, way: Way) -> Sequence[CoordinatorRecord] | RecordBlock:
    if way == "plain":
        return plain_commit_records(store, plain(request), NOW_MS).records
    return commit_records(store, request, NOW_MS, METADATA_MAX).records


class Side:
    """A store, and how commits get into it."""

    def __init__(self, way: Way | Literal["records"]) -> None:
        self.registry = SnapshotRegistry()
        self.store = OffsetStore(self.registry)
        self.offset = 0
        self._way = way

    def commit(self, request: OffsetCommitRequest) -> None:
        if self._way == "records":
            self.replay(single_records(request))
            return
        records = block_of(self.store, request, self._way)
        if isinstance(records, RecordBlock):
            records.replay(self.offset)
            self.offset += len(records)

    def replay(self, records: Iterable[CoordinatorRecord]) -> None:
        for record in records:
            assert isinstance(record.key, OffsetCommitKey)
            assert isinstance(record.value, OffsetCommitValue | None)
            self.store.replay(self.offset, record.key, record.value)
            self.offset += 1

    def delete(self, group_id: str, topic: str, partition: int) -> None:
        """The offsets of two partitions."""
        positions = [(topic, partition), (topic, partition + 1)]
        if self._way == "records":
            self.replay([tombstone(group_id, *position) for position in positions])
        else:
            Tombstones(self.store, group_id, positions).replay(self.offset)
            self.offset += 2

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
            self.delete(*step)
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


@given(st.lists(REQUESTS | EVENTS | TOMBSTONES, max_size=12), WAYS)
def test_a_block_leaves_what_its_records_leave(steps: list[Step], way: Way) -> None:
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
    one, other = Side("decoded"), Side("records")
    for step in steps:
        one.take(step)
        other.take(step)
        for at in (*one.registry.epochs, one.offset):
            assert one.state(at) == other.state(at)


@given(
    st.tuples(REQUESTS, WAYS) | st.tuples(NOTED, st.just("decoded")), st.integers(0, 100), st.sampled_from([b"\0", b"\2\2a\2b"])
)
def test_a_block_stands_for_its_records(drawn: tuple[OffsetCommitRequest, Way], before: int, headers: bytes) -> None:
    """Who iterates over it, as a transaction does, gets those; it writes their bytes, and no more of them than it says."""
    request, way = drawn
    store = OffsetStore(SnapshotRegistry())
    single = single_records(request)
    block = block_of(store, request, way)
    if not isinstance(block, RecordBlock):
        assert list(block) == single == []
        return
    check_block(block, single, before, headers)


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(-1, 2**31 - 1)), unique=True, min_size=1, max_size=20),
    st.sampled_from([0, 60, 2040, 8190]),
    st.sampled_from([b"\0", b"\2\2a\2b"]),
)
def test_tombstones_stand_for_their_records(positions: list[tuple[str, int]], before: int, headers: bytes) -> None:
    """As commits do; and so do blocks one after another."""
    store = OffsetStore(SnapshotRegistry())
    by_topic = sorted(positions, key=lambda each: [topic for topic, _ in positions].index(each[0]))
    single = [tombstone("g", *position) for position in by_topic]
    check_block(Tombstones(store, "g", positions), single, before, headers)
    again = [tombstone("h", *position) for position in by_topic]
    blocks = BlockSequence([Tombstones(store, "g", positions), Tombstones(store, "h", positions)])
    check_block(blocks, [*single, *again], before, headers)


def check_block(block: RecordBlock, single: list[CoordinatorRecord], before: int, headers: bytes) -> None:
    """A block has these records and writes their bytes."""
    assert list(block) == single
    batches = [BatchBuilder(7, NOW_MS), BatchBuilder(7, NOW_MS)]
    for batch in batches:
        for _ in range(before):
            batch.append(b"before", None)

    size = batches[0].size
    block.write(batches[0], headers)
    for place, record in enumerate(single):
        batches[1].append(
            CLASSIC_GROUP_SERDE.encode_key(record),
            CLASSIC_GROUP_SERDE.encode_value(record),
            NO_HEADERS if place else headers,
        )

    assert len(block) == len(single)
    assert batches[0].size <= size + block.max_bytes() + len(headers)
    assert batches[0].finish() == batches[1].finish()


def test_commits_of_other_partitions_each_time_do_not_pile_up() -> None:
    """A group takes about as much room as its single offsets would, however its commits are cut."""
    side = Side("plain")
    for size in range(1, 200):
        partitions = [OffsetCommitRequestPartition(index, size) for index in range(size % 20 + 1)]
        side.commit(OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic(f"t{size % 7}", partitions=partitions)]))

    rows = side.store.by_group["g"].container

    assert isinstance(rows, dict)
    assert len(rows) <= 8 + 7 * 20 // 8


def test_all_but_an_expiry_fits_into_a_block() -> None:
    """One offset or many, with metadata or without; what is refused is left out."""
    many = [OffsetCommitRequestPartition(index, 5) for index in range(10)]
    noted = [*many, OffsetCommitRequestPartition(10, 5, -1, "note")]
    refused = [*many, OffsetCommitRequestPartition(10, 5, -1, "x" * 4097)]
    store = OffsetStore(SnapshotRegistry())

    def is_block(partitions: list[OffsetCommitRequestPartition], retention_ms: int = -1) -> bool:
        topics = [OffsetCommitRequestTopic("t", partitions=partitions)]
        request = OffsetCommitRequest("g", 1, "m", retention_time_ms=retention_ms, topics=topics)
        return isinstance(commit_records(store, request, 0, METADATA_MAX).records, RecordBlock)

    assert [is_block(many), is_block(many[:1]), is_block(noted), is_block(refused)] == [True, True, True, True]
    assert [is_block(refused[-1:]), is_block(many, 1000)] == [False, False]
