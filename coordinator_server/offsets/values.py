"""What is known of one committed position."""

from __future__ import annotations

from msgspec import Struct

from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitValue

TopicPartition = tuple[str, int]
NO_TIMESTAMP = -1


class OffsetAndMetadata(Struct, frozen=True, gc=False):
    """One committed position, and the log offset of the record that says so."""

    committed_offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    record_offset: int
    # Only OffsetCommit versions 2-4 could set it; NO_TIMESTAMP otherwise.
    expire_timestamp_ms: int = NO_TIMESTAMP
    topic_id: bytes = ZERO_UUID


def committed_by(record_offset: int, value: OffsetCommitValue) -> OffsetAndMetadata:
    """What an OffsetCommit record's value says."""
    return OffsetAndMetadata(
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        record_offset,
        value.expire_timestamp,
        value.topic_id,
    )
