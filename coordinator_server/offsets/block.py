"""Records of offsets as blocks, without a Python object per record: those of a commit without expiry, and tombstones."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Generic, TypeVar

from coordinator_server.machine.block import RECORD_OVERHEAD, RecordBlock
from coordinator_server.offsets.commit_topic import CommitTopic, layout_of
from coordinator_server.offsets.store import OffsetStore, TopicPartition
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.commit_records import VALUE_VERSION, CommitLayout
from protocol.coordinator_records import CoordinatorRecord
from protocol.fields import ZERO_UUID
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


class Tombstones(RecordBlock):
    """The deletion of offsets of one group: at least one position, each once."""

    __slots__ = ("_by_topic", "_group_id", "_positions", "_store")

    def __init__(self, store: OffsetStore, group_id: str, positions: Sequence[TopicPartition]) -> None:
        self._store = store
        self._group_id = group_id
        self._positions = positions
        self._by_topic: dict[str, list[int]] = {}
        for topic, partition in positions:
            self._by_topic.setdefault(topic, []).append(partition)

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        for topic, partitions in self._by_topic.items():
            for partition in partitions:
                yield CoordinatorRecord(OffsetCommitKey(self._group_id, topic, partition), None)

    def max_bytes(self) -> int:
        return sum([(RECORD_OVERHEAD + len(layout.prefix)) * len(partitions) for layout, partitions in self._topics()])

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        for layout, partitions in self._topics():
            batch.extend(layout.encode_tombstones(batch.next_delta, partitions, headers), len(partitions))
            headers = NO_HEADERS

    def replay(self, offset: int) -> None:
        self._store.bury(self._group_id, self._positions)

    def _topics(self) -> list[tuple[CommitLayout, list[int]]]:
        return [(layout_of(self._group_id, topic, ZERO_UUID), partitions) for topic, partitions in self._by_topic.items()]
