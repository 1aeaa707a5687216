"""TxnOffsetCommit at the group's shard (``OffsetMetadataManager``).

The same records as OffsetCommit's, without topic ids, in a batch of the transaction. They do not refresh the member's session,
and the state of the group is not checked.
"""

from __future__ import annotations

from coordinator_server.group.commit import admit_in_transaction, check_partitions
from coordinator_server.group.registry import Groups
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.offsets.commit import commit_records
from protocol.fields import ZERO_UUID
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse


def commit_in_transaction(
    groups: Groups, request: OffsetCommitRequest, now_ms: int, metadata_max: int
) -> CoordinatorResult[OffsetCommitResponse]:
    """Return the records to append with the producer's claim, and the answer. Raises CoordinatorError."""
    check = admit_in_transaction(groups, request)
    if check is not None:
        check_partitions(request, check, metadata_max)
    for topic in request.topics:
        topic.topic_id = ZERO_UUID
    return commit_records(groups.offsets, request, now_ms, metadata_max)
