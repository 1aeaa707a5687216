"""DeleteGroups (42) and OffsetDelete (47)."""

from __future__ import annotations

from operator import attrgetter

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import OPERATION_ERRORS, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.gather import Gather, Refused
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.api_row import ApiRow
from coordinator_server.server.apis.merged import merged
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.callback_reply import CallbackReply
from coordinator_server.server.connection import PendingReply
from coordinator_server.server.node import Node
from coordinator_server.server.order import Order
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

DELETE_GROUPS = WriteOperation("delete-groups", GroupShard.delete_groups)
DELETE_OFFSETS = WriteOperation("delete-offsets", GroupShard.delete_offsets)


def delete_groups(
    node: Node, context: RequestContext, request: DeleteGroupsRequest, reply: PendingReply[DeleteGroupsResponse]
) -> None:
    """Run one operation per shard; answer when each is durable or has failed."""
    by_shard: dict[int, list[str]] = {}
    for group_id in dict.fromkeys(request.groups_names):
        by_shard.setdefault(node.partition_of(group_id), []).append(group_id)
    asked = list(by_shard.items())

    def gathered(answers: list[list[DeletableGroupResult] | Refused]) -> None:
        results: list[DeletableGroupResult] = []
        for (_, group_ids), answer in zip(asked, answers, strict=True):
            if isinstance(answer, Refused):
                code = operation_error(answer.error)
                answer = [DeletableGroupResult(group_id, code) for group_id in group_ids]
            results += answer
        reply.complete(DeleteGroupsResponse(results=results))

    gather = Gather(len(asked), gathered)
    for place, (partition, group_ids) in enumerate(asked):
        node.groups.write(partition, DELETE_GROUPS, context, group_ids, gather.reply(place))


def refuse_delete_groups(
    context: RequestContext, request: DeleteGroupsRequest, error: ErrorCode, message: str | None
) -> DeleteGroupsResponse:
    code = operation_error(error)
    return DeleteGroupsResponse(results=[DeletableGroupResult(group_id, code) for group_id in request.groups_names])


DELETE_GROUPS_API = ApiRow(DeleteGroupsRequest, DeleteGroupsResponse, delete_groups, refuse_delete_groups, Order.ALONE)


def delete_offsets(
    node: Node, context: RequestContext, request: OffsetDeleteRequest, reply: PendingReply[OffsetDeleteResponse]
) -> None:
    """Refuse partitions that do not exist; the group's shard handles the rest."""
    refused = _take_unknown(node, request)

    def answered(response: OffsetDeleteResponse) -> None:
        if refused:
            response = OffsetDeleteResponse(topics=merged(refused, response.topics, attrgetter("name")))
        reply.complete(response)

    def failed(error: ErrorCode, message: str | None) -> None:
        # An error of the whole group replaces the answers for all partitions (OffsetDeleteResponse.Builder.merge).
        reply.complete(OffsetDeleteResponse(error_code=operation_error(error)))

    if not request.group_id:
        failed(ErrorCode.INVALID_GROUP_ID, None)
        return
    node.groups.write(node.partition_of(request.group_id), DELETE_OFFSETS, context, request, CallbackReply(answered, failed))


OFFSET_DELETE_API = ApiRow(
    OffsetDeleteRequest, OffsetDeleteResponse, delete_offsets, error_only(OffsetDeleteResponse, OPERATION_ERRORS), Order.WRITE
)


def _take_unknown(node: Node, request: OffsetDeleteRequest) -> list[OffsetDeleteResponseTopic]:
    """Remove partitions that do not exist from the request, and return the answers for them."""
    refused = []
    for asked in request.topics:
        topic = node.topic(asked.name)
        if topic is None:
            node.check_current()
        count = topic.partitions if topic is not None else 0
        unknown = [one.partition_index for one in asked.partitions if not 0 <= one.partition_index < count]
        if unknown or topic is None:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refused.append(OffsetDeleteResponseTopic(asked.name, [OffsetDeleteResponsePartition(one, error) for one in unknown]))
            asked.partitions = [one for one in asked.partitions if 0 <= one.partition_index < count]
    request.topics = [topic for topic in request.topics if topic.partitions]
    return refused
