"""The records of a plain OffsetCommit request in one piece: its rows go into the log and into the state as they came."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator_server.machine.block import RecordBlock
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.offset_commits import VALUE_VERSION, CommitLayout, commit_layout
from protocol.plain_commits import PlainCommit, TopicRows, offsets_of
from protocol.record_batch import NO_HEADERS, BatchBuilder


class CommittedAsRows(RecordBlock):
    """All that one request commits, topic by topic."""

    __slots__ = ("_group_id", "_now_ms", "_store", "_topics")

    def __init__(self, store: OffsetStore, request: PlainCommit, now_ms: int) -> None:
        self._store = store
        self._group_id = group_id = request.shape.group_id
        self._now_ms = now_ms
        self._topics: list[tuple[CommitLayout, TopicRows]] = [
            (commit_layout(group_id, topic.name, topic.topic_id), topic) for topic in request.topics
        ]

    def __len__(self) -> int:
        return sum([topic.partitions.count for _, topic in self._topics])

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        for _, topic in self._topics:
            for partition, offset, epoch in offsets_of(topic.rows):
                key = OffsetCommitKey(self._group_id, topic.name, partition)
                value = OffsetCommitValue(offset, epoch, "", self._now_ms, topic_id=topic.topic_id)
                yield CoordinatorRecord(key, value, VALUE_VERSION)

    def max_bytes(self) -> int:
        most = 0
        for layout, topic in self._topics:
            most += layout.record_bytes * topic.partitions.count
        return most

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        for layout, topic in self._topics:
            count = topic.partitions.count
            batch.extend(layout.encode_rows(batch.next_delta, topic.rows, count, self._now_ms, headers), count)
            headers = NO_HEADERS

    def replay(self, offset: int) -> None:
        for _, topic in self._topics:
            self._store.put_rows(offset, self._group_id, topic, self._now_ms)
            offset += topic.partitions.count
