"""The records of an OffsetCommit request in one piece: what nearly every commit is, without a Python object for each record.

Only offsets without metadata and without an expiry fit; ``offsets.commit`` makes single records of the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from coordinator_server.machine.block import RecordBlock
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from protocol.offset_commits import VALUE_VERSION, CommitLayout
from protocol.record_batch import NO_HEADERS, BatchBuilder


class TopicCommits(Struct, frozen=True, gc=False):
    """What a request commits for one topic, as it stands in the request."""

    layout: CommitLayout
    topic: str
    topic_id: bytes
    partitions: list[OffsetCommitRequestPartition]


class OffsetCommits(RecordBlock):
    """All that one request commits."""

    __slots__ = ("_group_id", "_now_ms", "_store", "_topics")

    def __init__(self, store: OffsetStore, group_id: str, now_ms: int, topics: list[TopicCommits]) -> None:
        self._store = store
        self._group_id = group_id
        self._now_ms = now_ms
        self._topics = topics

    def __len__(self) -> int:
        return sum([len(each.partitions) for each in self._topics])

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        for each in self._topics:
            for one in each.partitions:
                value = OffsetCommitValue(
                    one.committed_offset, one.committed_leader_epoch, "", self._now_ms, topic_id=each.topic_id
                )
                yield CoordinatorRecord(OffsetCommitKey(self._group_id, each.topic, one.partition_index), value, VALUE_VERSION)

    def max_bytes(self) -> int:
        most = 0
        for each in self._topics:
            most += each.layout.record_bytes * len(each.partitions)
        return most

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        for each in self._topics:
            batch.extend(each.layout.encode(batch.next_delta, each.partitions, self._now_ms, headers), len(each.partitions))
            headers = NO_HEADERS

    def replay(self, offset: int) -> None:
        for each in self._topics:
            self._store.replay_many(offset, self._group_id, each.topic, each.topic_id, each.partitions, self._now_ms)
            offset += len(each.partitions)
