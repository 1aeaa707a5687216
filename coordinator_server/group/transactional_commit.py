"""TxnOffsetCommit at the group's shard, once its transaction is known to be open there (``OffsetMetadataManager``).

The same records as OffsetCommit's, without topic ids, in a batch of the transaction. They do not refresh the member's session, and the
state of the group is not asked for.
"""

from __future__ import annotations

from coordinator_server.group.commit import admit_in_transaction
from coordinator_server.group.registry import Groups
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.offsets.commit import commit_records
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)


def commit_in_transaction(
    groups: Groups, request: TxnOffsetCommitRequest, now_ms: int, metadata_max: int
) -> CoordinatorResult[TxnOffsetCommitResponse]:
    """Return the records to append with the request's producer, and the answer. Raises CoordinatorError."""
    plain = _without_transaction(request)
    admit_in_transaction(groups, plain)
    result = commit_records(groups.offsets, plain, now_ms, metadata_max)
    assert isinstance(result.response, OffsetCommitResponse)
    topics = [
        TxnOffsetCommitResponseTopic(
            topic.name, [TxnOffsetCommitResponsePartition(one.partition_index, one.error_code) for one in topic.partitions]
        )
        for topic in result.response.topics
    ]
    return CoordinatorResult(TxnOffsetCommitResponse(topics=topics), list(result.records), attribution=result.attribution)


def _without_transaction(request: TxnOffsetCommitRequest) -> OffsetCommitRequest:
    topics = [
        OffsetCommitRequestTopic(
            topic.name,
            partitions=[
                OffsetCommitRequestPartition(
                    one.partition_index, one.committed_offset, one.committed_leader_epoch, one.committed_metadata
                )
                for one in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return OffsetCommitRequest(
        request.group_id, request.generation_id, request.member_id, request.group_instance_id, topics=topics
    )
