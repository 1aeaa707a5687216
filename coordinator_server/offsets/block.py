"""The records of an OffsetCommit request in one piece: what nearly every commit is, without a Python object for each record.

Only offsets without an expiry fit; ``offsets.commit`` makes single records of the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from coordinator_server.machine.block import RecordBlock
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequestTopic
from protocol.offset_commits import VALUE_VERSION, CommitLayout
from protocol.record_batch import NO_HEADERS, BatchBuilder

# How its records look, what was asked, and the metadata of its partitions in UTF-8; None where none of them has any.
TopicCommits = tuple[CommitLayout, OffsetCommitRequestTopic, list[bytes] | None]


class OffsetCommits(RecordBlock):
    """All that one request commits, topic by topic."""

    __slots__ = ("_group_id", "_now_ms", "_store", "_topics")

    def __init__(self, store: OffsetStore, group_id: str, now_ms: int, topics: list[TopicCommits]) -> None:
        self._store = store
        self._group_id = group_id
        self._now_ms = now_ms
        self._topics = topics

    def __len__(self) -> int:
        return sum([len(topic.partitions) for _, topic, _ in self._topics])

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        for _, topic, _ in self._topics:
            for one in topic.partitions:
                key = OffsetCommitKey(self._group_id, topic.name, one.partition_index)
                committed = one.committed_offset, one.committed_leader_epoch
                value = OffsetCommitValue(*committed, one.committed_metadata or "", self._now_ms, topic_id=topic.topic_id)
                yield CoordinatorRecord(key, value, VALUE_VERSION)

    def subject(self) -> tuple[Hashable, Hashable]:
        keys = [(topic.name, tuple([one.partition_index for one in topic.partitions])) for _, topic, _ in self._topics]
        return self._group_id, tuple(keys)

    def max_bytes(self) -> int:
        most = 0
        for layout, topic, texts in self._topics:
            most += layout.record_bytes * len(topic.partitions)
            if texts is not None:
                most += layout.text_bytes(texts)
        return most

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        for layout, topic, texts in self._topics:
            partitions = topic.partitions
            if texts is None:
                records = layout.encode(batch.next_delta, partitions, self._now_ms, headers)
            else:
                records = layout.encode_with_texts(batch.next_delta, partitions, texts, self._now_ms, headers)
            batch.extend(records, len(partitions))
            headers = NO_HEADERS

    def replay(self, offset: int) -> None:
        group_id = self._group_id
        for _, topic, _ in self._topics:
            self._store.replay_many(offset, group_id, topic, self._now_ms)
            offset += len(topic.partitions)
