"""OffsetCommits: a block leaves the state that its records leave, one by one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.block import RecordBlock
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.commit import commit_offsets
from coordinator_server.offsets.store import OffsetStore
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic

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
# What happens to a shard between operations: "snapshot" a batch begins, "durable" it got there, "revert" it did not.
EVENTS = st.sampled_from(["snapshot", "durable", "revert"])


class Side:
    """A store, and how commits get into it."""

    def __init__(self, *, in_blocks: bool) -> None:
        self.registry = SnapshotRegistry()
        self.store = OffsetStore(self.registry)
        self.offset = 0
        self.blocks = 0
        self._in_blocks = in_blocks

    def commit(self, request: OffsetCommitRequest) -> None:
        records = commit_offsets(self.store, request, 1_700_000_000_000, 4096).records
        if self._in_blocks and isinstance(records, RecordBlock):
            records.replay(self.offset)
            self.blocks += 1
        else:
            for place, record in enumerate(records):
                assert isinstance(record.key, OffsetCommitKey)
                assert isinstance(record.value, OffsetCommitValue)
                self.store.replay(self.offset + place, record.key, record.value)
        self.offset += len(records)

    def happen(self, event: str) -> None:
        match event:
            case "snapshot":
                self.registry.snapshot(self.offset)
            case "durable":
                self.registry.delete_up_to(self.offset)
            case "revert" if self.registry.epochs:
                self.offset = self.registry.epochs[0]
                self.registry.revert_to(self.offset)

    def state(self, at: int) -> dict[str, Any]:
        return {group: dict(offsets.items_at(at)) for group, offsets in self.store.by_group.items_at(at)}


@given(st.lists(REQUESTS | EVENTS, max_size=12))
def test_a_block_leaves_what_its_records_leave(steps: list[OffsetCommitRequest | str]) -> None:
    """Now, at every earlier offset that can still be read, and after a revert."""
    one, other = Side(in_blocks=True), Side(in_blocks=False)
    for step in steps:
        for side in (one, other):
            if isinstance(step, str):
                side.happen(step)
            else:
                side.commit(step)
        assert one.offset == other.offset
        for at in (*one.registry.epochs, one.offset):
            assert one.state(at) == other.state(at)


def test_unusual_commits_are_no_blocks() -> None:
    """A block is for one offset or for many; metadata and expiry times have no place in one."""
    many = [OffsetCommitRequestPartition(index, 5) for index in range(10)]
    noted = [*many, OffsetCommitRequestPartition(10, 5, -1, "note")]
    store = OffsetStore(SnapshotRegistry())

    def is_block(partitions: list[OffsetCommitRequestPartition], retention_ms: int = -1) -> bool:
        topics = [OffsetCommitRequestTopic("t", partitions=partitions)]
        request = OffsetCommitRequest("g", 1, "m", retention_time_ms=retention_ms, topics=topics)
        return isinstance(commit_offsets(store, request, 0, 4096).records, RecordBlock)

    assert [is_block(many), is_block(many[:1]), is_block(noted), is_block(many, 1000)] == [True, True, False, False]
