"""OffsetCommit, once it is known that the member may: records and the answer, partition by partition.

A value is written at version 4. A request that brings a retention time (versions 2-4) gets version 1, the only one with an expiry.
"""

from __future__ import annotations

from coordinator_server.machine.provenance import Attribution
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.offsets.block import OffsetCommits, TopicCommits
from coordinator_server.offsets.rows import CommittedAsRows
from coordinator_server.offsets.store import NO_TIMESTAMP, OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from protocol.offset_commits import VALUE_VERSION, commit_layout
from protocol.plain_commits import AcceptedCommit, PlainCommit

VALUE_VERSION_WITH_EXPIRY = 1
NO_RETENTION_TIME = -1
LAST_TIMESTAMP = 2**63 - 1

_METADATA_TOO_LARGE = int(ErrorCode.OFFSET_METADATA_TOO_LARGE)


def commit_offsets(
    store: OffsetStore, request: OffsetCommitRequest, now_ms: int, metadata_max: int
) -> CoordinatorResult[OffsetCommitResponse]:
    """One record for each partition whose metadata is not longer than ``metadata_max`` UTF-16 units."""
    if request.retention_time_ms == NO_RETENTION_TIME:
        result = _commit_block(store, request, now_ms, metadata_max)
        if result is not None:
            return result
    return _commit_one_by_one(request, now_ms, metadata_max)


def commit_rows(store: OffsetStore, request: PlainCommit, now_ms: int) -> CoordinatorResult[AcceptedCommit]:
    """One record for each row of a request whose topics are known."""
    shape = request.shape
    attribution = shape.attribution
    if not isinstance(attribution, Attribution):
        shape.attribution = attribution = speaking_for(shape.member_id, shape.group_instance_id)
    return CoordinatorResult(shape.accepted, CommittedAsRows(store, request, now_ms), attribution=attribution)


def _commit_block(
    store: OffsetStore, request: OffsetCommitRequest, now_ms: int, metadata_max: int
) -> CoordinatorResult[OffsetCommitResponse] | None:
    """The records as one block; None when a partition is to be refused, or there is nothing at all."""
    group_id = request.group_id
    topics: list[TopicCommits] = []
    answers: list[OffsetCommitResponseTopic] = []
    for topic in request.topics:
        partitions = topic.partitions
        accepted: list[OffsetCommitResponsePartition] = []
        has_texts = False
        for partition in partitions:
            text = partition.committed_metadata
            if text:
                if _is_too_long(text, metadata_max):
                    return None
                has_texts = True
            accepted.append(OffsetCommitResponsePartition(partition.partition_index))
        if not accepted:
            return None
        name, topic_id = topic.name, topic.topic_id
        texts = [(partition.committed_metadata or "").encode() for partition in partitions] if has_texts else None
        topics.append((commit_layout(group_id, name, topic_id), topic, texts))
        answers.append(OffsetCommitResponseTopic(name, topic_id, accepted))
    if not answers:
        return None
    block = OffsetCommits(store, group_id, now_ms, topics)
    attribution = speaking_for(request.member_id, request.group_instance_id)
    return CoordinatorResult(OffsetCommitResponse(topics=answers), block, attribution=attribution)


def _commit_one_by_one(request: OffsetCommitRequest, now_ms: int, metadata_max: int) -> CoordinatorResult[OffsetCommitResponse]:
    group_id = request.group_id
    expires, version = NO_TIMESTAMP, VALUE_VERSION
    if request.retention_time_ms != NO_RETENTION_TIME:
        expires, version = min(now_ms + request.retention_time_ms, LAST_TIMESTAMP), VALUE_VERSION_WITH_EXPIRY
    records: list[CoordinatorRecord] = []
    topics: list[OffsetCommitResponseTopic] = []
    for topic in request.topics:
        name, topic_id = topic.name, topic.topic_id
        answers: list[OffsetCommitResponsePartition] = []
        topics.append(OffsetCommitResponseTopic(name, topic_id, answers))
        for partition in topic.partitions:
            index = partition.partition_index
            metadata = partition.committed_metadata or ""
            if _is_too_long(metadata, metadata_max):
                answers.append(OffsetCommitResponsePartition(index, _METADATA_TOO_LARGE))
                continue
            answers.append(OffsetCommitResponsePartition(index))
            value = OffsetCommitValue(
                partition.committed_offset, partition.committed_leader_epoch, metadata, now_ms, expires, topic_id
            )
            records.append(CoordinatorRecord(OffsetCommitKey(group_id, name, index), value, version))
    attribution = speaking_for(request.member_id, request.group_instance_id)
    return CoordinatorResult(OffsetCommitResponse(topics=topics), records, attribution=attribution)


def _is_too_long(text: str, most: int) -> bool:
    return len(text) * 2 > most and _utf16_length(text) > most


def _utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-be", "surrogatepass")) // 2
