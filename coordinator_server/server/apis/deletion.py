"""DeleteGroups (42) and OffsetDelete (47)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import OPERATION_ERRORS, CoordinatorError, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis import group_access, offset_access
from coordinator_server.server.apis.lists import portions_in_steps
from coordinator_server.server.apis.merged import merged
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, in_portions
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

DELETE_GROUPS = WriteOperation("delete-groups", GroupShard.delete_groups)
DELETE_OFFSETS = WriteOperation("delete-offsets", GroupShard.delete_offsets)

# The work of a step of DeleteGroups.
GROUPS_PER_STEP: Final = 500
RECORDS_PER_STEP: Final = 500
# And of OffsetDelete.
TOPICS_PER_STEP: Final = 2_000


def delete_groups(
    node: Node, context: RequestContext, request: DeleteGroupsRequest, reply: Exchange[DeleteGroupsResponse]
) -> None:
    """Run one operation per shard; answer when each is durable or has failed. Large requests take more operations, in steps."""
    names = request.groups_names
    if reply.is_large or len(names) > GROUPS_PER_STEP:
        node.steps.run_on(reply, _delete_in_steps(node, request, _Deletions(node, context, reply)))
        return
    by_shard = _by_shard(node, dict.fromkeys(names))
    if sum(_size(node, *each) for each in by_shard.items()) > RECORDS_PER_STEP:
        node.steps.run_on(reply, _delete_in_steps(node, request, _Deletions(node, context, reply)))
        return
    deletions = _Deletions(node, context, reply)
    for partition, group_ids in by_shard.items():
        deletions.run(partition, group_ids)
    deletions.end()


class _Deletions:
    """The operations of a request, and their results in the order of the operations."""

    def __init__(self, node: Node, context: RequestContext, reply: Exchange[DeleteGroupsResponse]) -> None:
        self._node = node
        self._context = context
        self._reply = reply
        self._results: list[list[DeletableGroupResult]] = []
        # One for each operation without an answer, and one until ``end``.
        self._missing = 1

    def run(self, partition: int, group_ids: list[str]) -> None:
        """Delete groups of one shard."""
        results: list[DeletableGroupResult] = []
        self._results.append(results)
        self._missing += 1

        def answered(answers: list[DeletableGroupResult]) -> None:
            results.extend(answers)
            self.end()

        def failed(error: ErrorCode, message: str | None) -> None:
            code = operation_error(error)
            answered([DeletableGroupResult(group_id, code) for group_id in group_ids])

        self._node.groups.write(partition, DELETE_GROUPS, self._context, group_ids, CallbackReply(answered, failed))

    def end(self) -> None:
        """Count an answer, or the end of the operations. Answer the request after the last."""
        self._missing -= 1
        if self._missing == 0:
            response = DeleteGroupsResponse(results=list(chain.from_iterable(self._results)))
            if len(response.results) <= GROUPS_PER_STEP:
                self._reply.complete(response)
            else:
                self._reply.complete_beside(response)


def _delete_in_steps(node: Node, request: DeleteGroupsRequest, deletions: _Deletions) -> Work[None]:
    """Run operations with about RECORDS_PER_STEP records, or with one group that has more."""
    by_shard: dict[int, list[str]] = {}
    for names in in_portions(dict.fromkeys(request.groups_names), GROUPS_PER_STEP):
        for partition, group_ids in _by_shard(node, names).items():
            by_shard.setdefault(partition, []).extend(group_ids)
        yield
    for partition, group_ids in by_shard.items():
        portion: list[str] = []
        size = 0
        for group_id in group_ids:
            size += (own := _size(node, partition, (group_id,)))
            if portion and size > RECORDS_PER_STEP:
                deletions.run(partition, portion)
                yield
                portion, size = [], own
            portion.append(group_id)
        deletions.run(partition, portion)
        yield
    deletions.end()


def _by_shard(node: Node, group_ids: Iterable[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for group_id in group_ids:
        found.setdefault(node.partition_of(group_id), []).append(group_id)
    return found


def _size(node: Node, partition: int, group_ids: Iterable[str]) -> int:
    """Return about how many records the deletion of groups of one shard writes."""
    try:
        return node.groups.read(partition, GroupShard.deletion_size, group_ids)
    except CoordinatorError:
        return 1  # The operation will say why.


def refuse_delete_groups(
    context: RequestContext, request: DeleteGroupsRequest, error: ErrorCode, message: str | None
) -> DeleteGroupsResponse:
    code = operation_error(error)
    return DeleteGroupsResponse(results=[DeletableGroupResult(group_id, code) for group_id in request.groups_names])


DELETE_GROUPS_API = ApiRow(
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    delete_groups,
    refuse_delete_groups,
    Order.ALONE,
    access=group_access.DELETE_GROUPS,
)


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


OFFSET_DELETE_API = ApiRow(
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    delete_offsets,
    error_only(OffsetDeleteResponse, OPERATION_ERRORS),
    Order.WRITE,
    access=offset_access.OFFSET_DELETE,
)


def _take_unknown(node: Node, topics: Iterable[OffsetDeleteRequestTopic]) -> list[OffsetDeleteResponseTopic]:
    """Remove partitions that do not exist from the topics, and return the answers for them."""
    refused = []
    for asked in topics:
        topic = node.topic(asked.name)
        if topic is None:
            node.check_current()
        count = topic.partitions if topic is not None else 0
        unknown = [one.partition_index for one in asked.partitions if not 0 <= one.partition_index < count]
        if unknown or topic is None:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refused.append(OffsetDeleteResponseTopic(asked.name, [OffsetDeleteResponsePartition(one, error) for one in unknown]))
            asked.partitions = [one for one in asked.partitions if 0 <= one.partition_index < count]
    return refused
