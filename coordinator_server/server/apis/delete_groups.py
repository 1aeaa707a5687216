"""DeleteGroups (42)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, in_portions
from coordinator_server.server.guard.access import ApiAccess
from coordinator_server.server.guard.parts import Each
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse

DELETE_GROUPS = WriteOperation("delete-groups", GroupShard.delete_groups)

# The work of a step.
GROUPS_PER_STEP: Final = 500
RECORDS_PER_STEP: Final = 500


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
    access=ApiAccess(parts=Each("groups_names", Operation.DELETE, ResourceType.GROUP, lambda _, group_id: group_id, "results")),
)
