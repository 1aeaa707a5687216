"""The records of an OffsetCommit request as one block, without a Python object per record. Only for offsets without expiry."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Generic, TypeVar

from coordinator_server.machine.block import RecordBlock
from coordinator_server.offsets.commit_topic import CommitTopic
from coordinator_server.offsets.store import OffsetStore
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.commit_records import VALUE_VERSION
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue

R = TypeVar("R")


class CommitBlock(RecordBlock, Generic[R]):
    """The commits of one request: its topics, and for each topic the committed rows."""

    __slots__ = ("_group_id", "_now_ms", "_rows", "_store", "_topics")

    def __init__(
        self, store: OffsetStore, group_id: str, now_ms: int, topics: Sequence[CommitTopic[R]], rows: Sequence[R]
    ) -> None:
        self._store = store
        self._group_id = group_id
        self._now_ms = now_ms
        self._topics = topics
        self._rows = rows

    def __len__(self) -> int:
        return sum([topic.count for topic in self._topics])

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        for topic, rows in zip(self._topics, self._rows, strict=True):
            for partition, offset, epoch, metadata in topic.committed(rows):
                key = OffsetCommitKey(self._group_id, topic.name, partition)
                value = OffsetCommitValue(offset, epoch, metadata, self._now_ms, topic_id=topic.topic_id)
                yield CoordinatorRecord(key, value, VALUE_VERSION)

    def subject(self) -> tuple[Hashable, Hashable]:
        keys = [
            (topic.name, tuple([partition for partition, _, _, _ in topic.committed(rows)]))
            for topic, rows in zip(self._topics, self._rows, strict=True)
        ]
        return self._group_id, tuple(keys)

    def max_bytes(self) -> int:
        most = 0
        for topic in self._topics:
            most += topic.max_bytes
        return most

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        now_ms, rows = self._now_ms, self._rows
        for place, topic in enumerate(self._topics):
            delta = batch.next_offset - batch.base_offset
            batch.extend(topic.encode(rows[place], delta, now_ms, headers), topic.count)
            headers = NO_HEADERS

    def replay(self, offset: int) -> None:
        group_id, now_ms, rows = self._group_id, self._now_ms, self._rows
        offsets = self._store.by_group.get(group_id)
        if offsets is None:
            offsets = self._store.to_change(group_id)
        for place, topic in enumerate(self._topics):
            topic.replay(rows[place], offsets, offset, now_ms)
            offset += topic.count
