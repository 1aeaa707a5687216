"""The records of a plain OffsetCommit request in one piece: its rows go into the log and into the state as they came."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from coordinator_server.machine.block import RecordBlock
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.offset_commits import VALUE_VERSION
from protocol.plain_commits import PlainCommit, offsets_of
from protocol.record_batch import NO_HEADERS, BatchBuilder


class CommittedAsRows(RecordBlock):
    """All that one request commits, topic by topic."""

    __slots__ = ("_now_ms", "_request", "_store")

    def __init__(self, store: OffsetStore, request: PlainCommit, now_ms: int) -> None:
        self._store = store
        self._request = request
        self._now_ms = now_ms

    def __len__(self) -> int:
        return sum([topic.partitions.count for topic in self._request.topics])

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        request = self._request
        for topic, rows in zip(request.topics, request.rows, strict=True):
            for partition, offset, epoch in offsets_of(rows):
                key = OffsetCommitKey(request.shape.group_id, topic.key[0], partition)
                value = OffsetCommitValue(offset, epoch, "", self._now_ms, topic_id=topic.topic_id)
                yield CoordinatorRecord(key, value, VALUE_VERSION)

    def subject(self) -> tuple[Hashable, Hashable]:
        request = self._request
        keys = [
            (topic.key[0], tuple([partition for partition, _, _ in offsets_of(rows)]))
            for topic, rows in zip(request.topics, request.rows, strict=True)
        ]
        return request.shape.group_id, tuple(keys)

    def max_bytes(self) -> int:
        most = 0
        for topic in self._request.topics:
            most += topic.layout.record_bytes * topic.partitions.count
        return most

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        rows = self._request.rows
        for place, topic in enumerate(self._request.topics):
            count = topic.partitions.count
            delta = batch.next_offset - batch.base_offset
            batch.extend(topic.layout.encode_rows(delta, rows[place], count, self._now_ms, headers), count)
            headers = NO_HEADERS

    def replay(self, offset: int) -> None:
        request = self._request
        for place, topic in enumerate(request.topics):
            self._store.put_rows(offset, request.shape.group_id, topic, request.rows[place], self._now_ms)
            offset += topic.partitions.count
