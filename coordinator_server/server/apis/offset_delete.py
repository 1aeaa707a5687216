"""OffsetDelete (47)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import attrgetter
from typing import Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import OPERATION_ERRORS, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.lists import portions_in_steps
from coordinator_server.server.apis.merged import merged
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import ApiAccess
from coordinator_server.server.guard.needs import DELETE_GROUP
from coordinator_server.server.guard.parts import Each
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

DELETE_OFFSETS = WriteOperation("delete-offsets", GroupShard.delete_offsets)
TOPICS_PER_STEP: Final = 2_000


def delete_offsets(
    node: Node, context: RequestContext, request: OffsetDeleteRequest, reply: Exchange[OffsetDeleteResponse]
) -> None:
    """Refuse partitions that do not exist; the group's shard handles the rest."""
    if reply.is_large:
        node.steps.run_on(reply, _delete_offsets_in_steps(node, context, request, reply))
    else:
        _delete_rest(node, context, request, _take_unknown(node, request.topics), reply)


def _delete_offsets_in_steps(
    node: Node, context: RequestContext, request: OffsetDeleteRequest, reply: Exchange[OffsetDeleteResponse]
) -> Work[None]:
    """Check the topics of a large request in steps; the deletion is one."""
    refused = yield from portions_in_steps(request.topics, TOPICS_PER_STEP, partial(_take_unknown, node))
    _delete_rest(node, context, request, refused, reply)


def _delete_rest(
    node: Node,
    context: RequestContext,
    request: OffsetDeleteRequest,
    refused: list[OffsetDeleteResponseTopic],
    reply: Exchange[OffsetDeleteResponse],
) -> None:
    """Delete the offsets of the partitions that were not refused."""
    request.topics = [topic for topic in request.topics if topic.partitions]

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


def _denied(topic: OffsetDeleteRequestTopic, error: ErrorCode, _message: str | None) -> OffsetDeleteResponseTopic:
    return _refused(topic.name, [one.partition_index for one in topic.partitions], error)


OFFSET_DELETE_API = ApiRow(
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    delete_offsets,
    error_only(OffsetDeleteResponse, OPERATION_ERRORS),
    Order.WRITE,
    access=ApiAccess(
        (DELETE_GROUP,),
        Each("topics", Operation.READ, ResourceType.TOPIC, lambda _, topic: topic.name, "topics", refused=_denied),
    ),
)


def _take_unknown(node: Node, topics: Iterable[OffsetDeleteRequestTopic]) -> list[OffsetDeleteResponseTopic]:
    """Remove partitions that do not exist from the topics, and return the answers for them."""
    refused = []
    for asked in topics:
        topic = node.image.topic(asked.name)
        if topic is None:
            node.image.check_current()
        count = topic.partitions if topic is not None else 0
        unknown = [one.partition_index for one in asked.partitions if not 0 <= one.partition_index < count]
        if unknown or topic is None:
            refused.append(_refused(asked.name, unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            asked.partitions = [one for one in asked.partitions if 0 <= one.partition_index < count]
    return refused


def _refused(name: str, partitions: Iterable[int], error: ErrorCode) -> OffsetDeleteResponseTopic:
    return OffsetDeleteResponseTopic(name, [OffsetDeleteResponsePartition(index, error) for index in partitions])
