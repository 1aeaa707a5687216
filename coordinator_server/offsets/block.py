"""The records of an OffsetCommit request in one piece: what nearly every commit is, without a Python object for each record.

Only offsets without metadata and without an expiry fit; ``offsets.commit`` makes single records of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from coordinator_server.machine.block import RecordBlock
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.offset_commits import VALUE_VERSION, CommitLayout
from protocol.record_batch import NO_HEADERS, BatchBuilder


class TopicCommits(NamedTuple):
    """What a request commits for one topic, in columns."""

    layout: CommitLayout
    topic: str
    topic_id: bytes
    partitions: list[int]
    offsets: list[int]
    leader_epochs: list[int]


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
            for partition, offset, epoch in zip(each.partitions, each.offsets, each.leader_epochs, strict=True):
                value = OffsetCommitValue(offset, epoch, "", self._now_ms, topic_id=each.topic_id)
                yield CoordinatorRecord(OffsetCommitKey(self._group_id, each.topic, partition), value, VALUE_VERSION)

    def max_bytes(self) -> int:
        return sum([each.layout.record_bytes * len(each.partitions) for each in self._topics])

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        for layout, _, _, partitions, offsets, epochs in self._topics:
            encoded = layout.encode(batch.next_delta, partitions, offsets, epochs, self._now_ms, headers)
            batch.extend(encoded, len(partitions))
            headers = NO_HEADERS

    def replay(self, offset: int) -> None:
        for each in self._topics:
            rows = each.partitions, each.offsets, each.leader_epochs
            self._store.replay_many(offset, self._group_id, each.topic, each.topic_id, rows, self._now_ms)
            offset += len(each.partitions)
