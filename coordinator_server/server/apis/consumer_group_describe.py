"""ConsumerGroupDescribe (69): groups of the consumer protocol (KIP-848), member by member."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.api_row import ApiRow
from coordinator_server.server.apis.authorized import GROUP_OPERATIONS
from coordinator_server.server.apis.lists import answer_list
from coordinator_server.server.node import Node
from coordinator_server.server.order import Order
from coordinator_server.server.reply import PendingReply
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)

UNITS_PER_GROUP: Final = 4
# A member has two assignments, and the state of the group depends on every member.
UNITS_PER_MEMBER: Final = 12


def describe_consumer_groups(
    node: Node,
    context: RequestContext,
    request: ConsumerGroupDescribeRequest,
    reply: PendingReply[ConsumerGroupDescribeResponse],
) -> None:
    def describe(group_id: str) -> tuple[DescribedGroup, int]:
        if not group_id:
            return _undescribed("", ErrorCode.INVALID_GROUP_ID, None), UNITS_PER_GROUP
        try:
            group = node.groups.read(node.partition_of(group_id), GroupShard.describe_consumer_group, group_id)
        except CoordinatorError as refused:
            group = _undescribed(group_id, refused.error, refused.message)
        if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
            group.authorized_operations = GROUP_OPERATIONS
        return group, UNITS_PER_GROUP + UNITS_PER_MEMBER * len(group.members)

    answer_list(node.steps, reply, request.group_ids, describe, lambda groups: ConsumerGroupDescribeResponse(groups=groups))


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
