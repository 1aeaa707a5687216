"""OffsetCommit after its validation: the records and the answer, partition by partition.

Values are written in version 4. A request with a retention time (versions 2-4) gets version 1, the only one with an expiry time.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.offsets.block import CommitBlock
from coordinator_server.offsets.commit_topic import DecodedTopic
from coordinator_server.offsets.logged_shape import LoggedShape
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import OffsetCommitValue
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from protocol.plain_commits import AcceptedCommit, PlainCommit

VALUE_VERSION_WITH_EXPIRY = 1
NO_RETENTION_TIME = -1
LAST_TIMESTAMP = 2**63 - 1

_METADATA_TOO_LARGE = int(ErrorCode.OFFSET_METADATA_TOO_LARGE)


def plain_commit_records(store: OffsetStore, request: PlainCommit[LoggedShape], now_ms: int) -> CoordinatorResult[AcceptedCommit]:
    """Make one record for each row of a request whose topics are known."""
    shape = request.shape
    block = CommitBlock(store, shape.group_id, now_ms, shape.commit_topics, request.rows)
    return CoordinatorResult(shape.answer, block, attribution=shape.attribution)


def commit_records(
    store: OffsetStore, request: OffsetCommitRequest, now_ms: int, metadata_max: int
) -> CoordinatorResult[OffsetCommitResponse]:
    """Make one record for each partition whose metadata is not longer than ``metadata_max`` UTF-16 units."""
    group_id = request.group_id
    topics: list[DecodedTopic] = []
    rows: list[list[OffsetCommitRequestPartition]] = []
    answers: list[OffsetCommitResponseTopic] = []
    for topic in request.topics:
        partitions = topic.partitions
        answer: list[OffsetCommitResponsePartition] = []
        has_metadata = is_refused = False
        for partition in partitions:
            metadata = partition.committed_metadata
            if metadata:
                if is_too_long(metadata, metadata_max):
                    is_refused = True
                    answer.append(OffsetCommitResponsePartition(partition.partition_index, _METADATA_TOO_LARGE))
                    continue
                has_metadata = True
            answer.append(OffsetCommitResponsePartition(partition.partition_index))
        answers.append(OffsetCommitResponseTopic(topic.name, topic.topic_id, answer))
        if is_refused:
            partitions = [partition for partition, said in zip(partitions, answer, strict=True) if not said.error_code]
        if partitions:
            committed = DecodedTopic(group_id, topic.name, topic.topic_id, len(partitions))
            if has_metadata:
                committed.add_metadata(partitions)
            topics.append(committed)
            rows.append(partitions)
    records: CommitBlock[list[OffsetCommitRequestPartition]] | Sequence[CoordinatorRecord] = ()
    if topics:
        records = CommitBlock(store, group_id, now_ms, topics, rows)
        if request.retention_time_ms != NO_RETENTION_TIME:
            expires_ms = min(now_ms + request.retention_time_ms, LAST_TIMESTAMP)
            records = [_expiring(record, expires_ms) for record in records]
    attribution = speaking_for(request.member_id, request.group_instance_id)
    return CoordinatorResult(OffsetCommitResponse(topics=answers), records, attribution=attribution)


def _expiring(record: CoordinatorRecord, expires_ms: int) -> CoordinatorRecord:
    assert isinstance(record.value, OffsetCommitValue)
    return CoordinatorRecord(record.key, replace(record.value, expire_timestamp=expires_ms), VALUE_VERSION_WITH_EXPIRY)


def is_too_long(text: str, most: int) -> bool:
    """Return whether metadata has more than ``most`` UTF-16 units."""
    return len(text) * 2 > most and _utf16_length(text) > most


def _utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-be", "surrogatepass")) // 2
