"""One topic of a commit: how what is committed of it, a row for each partition, goes into the log and into the state.

Rows come in two forms. Those of a plain request are bytes (``protocol/commit_rows.py``): a ``PlainTopic`` is made once for all commits of a shape.
Those of a decoded request are its partitions, with or without metadata: a ``DecodedTopic`` is made for one request.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import intern
from typing import Generic, TypeVar

from coordinator_server.offsets.group_offsets import CommittedRows, GroupOffsets
from coordinator_server.offsets.values import NO_TIMESTAMP, OffsetAndMetadata
from protocol.commit_records import commit_layout
from protocol.commit_rows import Partitions, offsets_of
from protocol.messages.offset_commit import OffsetCommitRequestPartition

R = TypeVar("R")


class CommitTopic(Generic[R]):
    """A topic and the form of its rows; the rows themselves are arguments."""

    __slots__ = ("count", "layout", "max_bytes", "metadata", "name", "topic_id")

    def __init__(self, group_id: str, name: str, topic_id: bytes, count: int) -> None:
        self.layout = commit_layout(group_id, name, topic_id)
        self.name = name
        self.topic_id = topic_id
        self.count = count
        # No less than what their records take of a batch.
        self.max_bytes = self.layout.record_bytes * count
        # In UTF-8, of each row; None where none has any.
        self.metadata: list[bytes] | None = None

    def committed(self, rows: R) -> Iterator[tuple[int, int, int, str]]:
        """Return partition, offset, leader epoch and metadata of each."""
        raise NotImplementedError

    def encode(self, rows: R, delta: int, now_ms: int, headers: bytes) -> bytes:
        """Return their records, the first of them at ``delta`` of its batch, and with ``headers``."""
        raise NotImplementedError

    def replay(self, rows: R, offsets: GroupOffsets, record_offset: int, now_ms: int) -> None:
        """Apply their records, of which the first is at ``record_offset``, to the offsets of the group."""
        raise NotImplementedError


class PlainTopic(CommitTopic[bytes]):
    """The rows are bytes, always of the same partitions. The state keeps them as they are."""

    __slots__ = ("_key",)

    def __init__(self, group_id: str, name: str, topic_id: bytes, partitions: Partitions) -> None:
        super().__init__(group_id, name, topic_id, partitions.count)
        # One name for all groups: there may be millions of positions.
        self._key = intern(name), partitions

    def committed(self, rows: bytes) -> Iterator[tuple[int, int, int, str]]:
        return ((partition, offset, epoch, "") for partition, offset, epoch in offsets_of(rows))

    def encode(self, rows: bytes, delta: int, now_ms: int, headers: bytes) -> bytes:
        return self.layout.encode_rows(delta, rows, self.count, now_ms, headers)

    def replay(self, rows: bytes, offsets: GroupOffsets, record_offset: int, now_ms: int) -> None:
        offsets.put_rows(self._key, CommittedRows(record_offset, now_ms, self.topic_id, rows))


class DecodedTopic(CommitTopic[list[OffsetCommitRequestPartition]]):
    """The rows are decoded partitions. The state keeps each of them."""

    __slots__ = ()

    def add_metadata(self, rows: list[OffsetCommitRequestPartition]) -> None:
        """Note that one of these rows has metadata."""
        self.metadata = [(one.committed_metadata or "").encode() for one in rows]
        self.max_bytes += self.layout.metadata_bytes(self.metadata)

    def committed(self, rows: list[OffsetCommitRequestPartition]) -> Iterator[tuple[int, int, int, str]]:
        return (
            (one.partition_index, one.committed_offset, one.committed_leader_epoch, one.committed_metadata or "") for one in rows
        )

    def encode(self, rows: list[OffsetCommitRequestPartition], delta: int, now_ms: int, headers: bytes) -> bytes:
        if self.metadata is None:
            return self.layout.encode_partitions(delta, rows, now_ms, headers)
        return self.layout.encode_with_metadata(delta, rows, self.metadata, now_ms, headers)

    def replay(self, rows: list[OffsetCommitRequestPartition], offsets: GroupOffsets, record_offset: int, now_ms: int) -> None:
        name, topic_id = intern(self.name), self.topic_id
        offsets.single().put_all(
            {
                (name, one.partition_index): OffsetAndMetadata(
                    one.committed_offset,
                    one.committed_leader_epoch,
                    one.committed_metadata or "",
                    now_ms,
                    written_at,
                    NO_TIMESTAMP,
                    topic_id,
                )
                for written_at, one in enumerate(rows, record_offset)
            }
        )
