"""The committed offset of one position, and the rows of a commit."""

from __future__ import annotations

from msgspec import Struct

from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitValue

TopicPartition = tuple[str, int]
NO_TIMESTAMP = -1


class OffsetAndMetadata(Struct, frozen=True, gc=False):
    """A committed offset with its metadata, and the log offset of its record."""

    committed_offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    record_offset: int
    # Only OffsetCommit versions 2-4 could set it; NO_TIMESTAMP otherwise.
    expire_timestamp_ms: int = NO_TIMESTAMP
    topic_id: bytes = ZERO_UUID


class CommittedRows(Struct, frozen=True, gc=False):
    """The partitions of one topic committed together. The first row is the record at ``record_offset``."""

    record_offset: int
    timestamp_ms: int
    topic_id: bytes
    rows: bytes


def committed_by(record_offset: int, value: OffsetCommitValue) -> OffsetAndMetadata:
    """Return the committed offset of an OffsetCommit record's value."""
    return OffsetAndMetadata(
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        record_offset,
        value.expire_timestamp,
        value.topic_id,
    )
