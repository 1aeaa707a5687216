"""One topic of a commit: writes its committed rows, one per partition, into the log and into the state.

Rows have two forms. The rows of a plain request are bytes (``protocol/commit_rows.py``); one ``PlainTopic`` serves all commits of
a shape. The rows of a decoded request are its partitions, with or without metadata; each request has its own ``DecodedTopic``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from sys import intern
from typing import Final, Generic, TypeVar

from coordinator_server.offsets.group_offsets import GroupOffsets, RowsKey
from coordinator_server.offsets.values import NO_TIMESTAMP, CommittedRows, OffsetAndMetadata
from protocol.commit_records import CommitLayout
from protocol.commit_row_records import RowsLayout
from protocol.commit_rows import Partitions, offsets_of, partitions_of, row_of
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from protocol.plain_commits import MOST_ROWS

R = TypeVar("R")

# Layouts of long names are not kept, so that the cache takes a few megabytes at most.
_KEPT_LAYOUTS: Final = 4096
_KEPT_NAMES: Final = 256


def layout_of(group_id: str, name: str, topic_id: bytes) -> CommitLayout:
    """Return the layout of the records of a group and topic."""
    if len(group_id) + len(name) > _KEPT_NAMES:
        return CommitLayout(group_id, name, topic_id)
    return _kept_layout(group_id, name, topic_id)


@lru_cache(maxsize=_KEPT_LAYOUTS)
def _kept_layout(group_id: str, name: str, topic_id: bytes) -> CommitLayout:
    return CommitLayout(group_id, name, topic_id)


@lru_cache(maxsize=_KEPT_LAYOUTS)
def _rows_key(name: str, partitions: Partitions) -> RowsKey:
    """Return one object for all groups that commit these partitions of a topic."""
    return name, partitions


class CommitTopic(Generic[R]):
    """A topic and the form of its rows. The rows themselves are arguments of the methods."""

    __slots__ = ("count", "layout", "max_bytes", "metadata", "name", "topic_id")

    def __init__(self, group_id: str, name: str, topic_id: bytes, count: int) -> None:
        self.layout = layout_of(group_id, name, topic_id)
        self.name = name
        self.topic_id = topic_id
        self.count = count
        # Upper bound of the bytes that the records take in a batch.
        self.max_bytes = self.layout.record_bytes * count
        # The metadata of each row in UTF-8; None if no row has metadata.
        self.metadata: list[bytes] | None = None

    def committed(self, rows: R) -> Iterator[tuple[int, int, int, str]]:
        """Return partition, offset, leader epoch and metadata of each row."""
        raise NotImplementedError

    def encode(self, rows: R, delta: int, now_ms: int, headers: bytes) -> bytes:
        """Return the encoded records. The first has the offset delta ``delta`` in its batch, and ``headers``."""
        raise NotImplementedError

    def replay(self, rows: R, offsets: GroupOffsets, record_offset: int, now_ms: int) -> None:
        """Apply the records to the offsets of the group. The first record is at ``record_offset``."""
        raise NotImplementedError


class PlainTopic(CommitTopic[bytes]):
    """A topic whose rows are bytes, always for the same partitions. The state stores these bytes unchanged."""

    __slots__ = ("_key", "_rows_layout")

    def __init__(self, group_id: str, name: str, topic_id: bytes, partitions: Partitions) -> None:
        super().__init__(group_id, name, topic_id, partitions.count)
        # Interned, so that millions of positions share one name.
        self._key = intern(name), partitions
        self._rows_layout = RowsLayout(self.layout, partitions)

    def committed(self, rows: bytes) -> Iterator[tuple[int, int, int, str]]:
        return iter([(partition, offset, epoch, "") for partition, offset, epoch in offsets_of(rows)])

    def encode(self, rows: bytes, delta: int, now_ms: int, headers: bytes) -> bytes:
        return self._rows_layout.encode(rows, delta, now_ms, headers)

    def replay(self, rows: bytes, offsets: GroupOffsets, record_offset: int, now_ms: int) -> None:
        offsets.put_rows(self._key, CommittedRows(record_offset, now_ms, self.topic_id, rows))


class DecodedTopic(CommitTopic[list[OffsetCommitRequestPartition]]):
    """A topic whose rows are decoded partitions. The state stores each of them, or bytes if they would do as a plain topic."""

    __slots__ = ()

    def add_metadata(self, rows: list[OffsetCommitRequestPartition]) -> None:
        """Set the metadata of all rows, at least one of which has some."""
        self.metadata = [(one.committed_metadata or "").encode() for one in rows]
        self.max_bytes += self.layout.metadata_bytes(self.metadata)

    def committed(self, rows: list[OffsetCommitRequestPartition]) -> Iterator[tuple[int, int, int, str]]:
        return iter(
            [
                (one.partition_index, one.committed_offset, one.committed_leader_epoch, one.committed_metadata or "")
                for one in rows
            ]
        )

    def encode(self, rows: list[OffsetCommitRequestPartition], delta: int, now_ms: int, headers: bytes) -> bytes:
        if self.metadata is None:
            return self.layout.encode_partitions(delta, rows, now_ms, headers)
        return self.layout.encode_with_metadata(delta, rows, self.metadata, now_ms, headers)

    def replay(self, rows: list[OffsetCommitRequestPartition], offsets: GroupOffsets, record_offset: int, now_ms: int) -> None:
        name, topic_id = intern(self.name), self.topic_id
        if self.metadata is None and len(rows) <= MOST_ROWS:
            raw = b"".join([row_of(one.partition_index, one.committed_offset, one.committed_leader_epoch) for one in rows])
            offsets.put_rows(_rows_key(name, partitions_of(raw)), CommittedRows(record_offset, now_ms, topic_id, raw))
            return
        offsets.to_set().put_all(
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
