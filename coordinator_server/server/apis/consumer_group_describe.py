"""ConsumerGroupDescribe (69): groups of the consumer protocol (KIP-848), member by member."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.consumer.describe import UNITS_PER_MEMBER, UndescribedGroup
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.api_row import ApiRow
from coordinator_server.server.apis.authorized import GROUP_OPERATIONS
from coordinator_server.server.apis.lists import UNITS_PER_STEP
from coordinator_server.server.node import Node
from coordinator_server.server.order import Order
from coordinator_server.server.quantum import QUANTUM
from coordinator_server.server.reply import PendingReply
from coordinator_server.server.steps import Work
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)

UNITS_PER_GROUP: Final = 4


def describe_consumer_groups(
    node: Node,
    context: RequestContext,
    request: ConsumerGroupDescribeRequest,
    reply: PendingReply[ConsumerGroupDescribeResponse],
) -> None:
    if not reply.is_large:
        try:
            next(_describe_in_steps(node, request))
        except StopIteration as done:
            response: ConsumerGroupDescribeResponse = done.value
            units = sum(UNITS_PER_GROUP + UNITS_PER_MEMBER * len(group.members) for group in response.groups)
            reply.connection.use_up(units * QUANTUM // UNITS_PER_STEP)
            reply.complete(response)
            return
        reply.connection.use_up()
    node.steps.run(reply, _describe_in_steps(node, request))


def _describe_in_steps(node: Node, request: ConsumerGroupDescribeRequest) -> Work[ConsumerGroupDescribeResponse]:
    """Describe each group as it is when its turn comes, a portion of its members at a time."""
    groups: list[DescribedGroup] = []
    left = UNITS_PER_STEP
    for group_id in request.group_ids:
        found = _group_at(node, group_id)
        left -= UNITS_PER_GROUP
        if isinstance(found, DescribedGroup):
            groups.append(found)
        else:
            groups.append(found.head)
            if request.include_authorized_operations:
                found.head.authorized_operations = GROUP_OPERATIONS
            for member, units in found.described_members():
                found.head.members.append(member)
                left -= units
                if left < 0:
                    yield
                    left = UNITS_PER_STEP
        if left < 0:
            yield
            left = UNITS_PER_STEP
    return ConsumerGroupDescribeResponse(groups=groups)


def _group_at(node: Node, group_id: str) -> UndescribedGroup | DescribedGroup:
    """Return the group, or its refusal."""
    if not group_id:
        return _undescribed("", ErrorCode.INVALID_GROUP_ID, None)
    try:
        return node.groups.read(node.partition_of(group_id), GroupShard.consumer_group_at, group_id)
    except CoordinatorError as refused:
        return _undescribed(group_id, refused.error, refused.message)


def refuse_describe_consumer_groups(
    context: RequestContext, request: ConsumerGroupDescribeRequest, error: ErrorCode, message: str | None
) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(groups=[_undescribed(group_id, error, message) for group_id in request.group_ids])


CONSUMER_GROUP_DESCRIBE_API = ApiRow(
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    describe_consumer_groups,
    refuse_describe_consumer_groups,
    Order.READ,
)


def _undescribed(group_id: str, error: ErrorCode, message: str | None) -> DescribedGroup:
    """Return the refusal of a group. Only of an unknown group the answer has a message, as in Kafka."""
    return DescribedGroup(operation_error(error), message if error == ErrorCode.GROUP_ID_NOT_FOUND else None, group_id)
