"""What somebody says in the name of a member that is gone."""

from __future__ import annotations

from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from tests.simulation.client import Client
from tests.simulation.group_member import COMMIT_VERSION, Identity, Surroundings


async def commit_as(gone: Identity, surroundings: Surroundings, client: Client) -> ErrorCode | None:
    """Commit in the name of a member that is gone. Return the answer, if one comes."""
    topic_id = surroundings.lasting["t0"]
    offset = surroundings.next_offset()
    surroundings.commits_of(gone.group_id, (topic_id, 0)).sent(offset)
    topic = OffsetCommitRequestTopic("t0", partitions=[OffsetCommitRequestPartition(0, offset)])
    request = OffsetCommitRequest(gone.group_id, gone.epoch, gone.member_id, topics=[topic])
    answer = await client.ask(request, COMMIT_VERSION, OffsetCommitResponse)
    if answer is None:
        return None
    error = ErrorCode(answer.topics[0].partitions[0].error_code)
    surroundings.commits_of(gone.group_id, (topic_id, 0)).answered(offset, error)
    return error
