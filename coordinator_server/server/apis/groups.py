"""JoinGroup (11), Heartbeat (12), LeaveGroup (13), SyncGroup (14), DescribeGroups (15), ListGroups (16)."""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from coordinator_server.group.describe import GroupFilter
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import OPERATION_ERRORS, CoordinatorError, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.gather import Refused
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.lists import answer_list
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.long_answer import LongAnswer
from coordinator_server.server.exchange.steps import Work, in_portions
from coordinator_server.server.guard.access import ApiAccess
from coordinator_server.server.guard.authorized_operations import GROUP_OPERATIONS, with_group_operations
from coordinator_server.server.guard.needs import READ_GROUP
from coordinator_server.server.guard.parts import NO_MESSAGES, Both, Each, Filtered, Visible
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.server.wire.quantum import UNITS_PER_US
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

UNKNOWN_GENERATION = -1
# Of DescribeGroups.
UNITS_PER_GROUP: Final = 12
UNITS_PER_MEMBER: Final = 4
# Of ListGroups.
GROUPS_PER_STEP: Final = 500
NAMES_PER_STEP: Final = 5_000
LIST_US_PER_SHARD: Final = 6

MEMBERS_IN_LOOP: Final = 1_000
"""Of an answer to a JoinGroup that the loop encodes: about 1 ms."""

JOIN = WriteOperation("classic-group-join", GroupShard.join_group)
SYNC = WriteOperation("classic-group-sync", GroupShard.sync_group)
HEARTBEAT = WriteOperation("classic-group-heartbeat", GroupShard.heartbeat)
LEAVE = WriteOperation("classic-group-leave", GroupShard.leave_group)


class JoinReply:
    """The answer to a JoinGroup. That of the leader of a large group is encoded beside the loop."""

    __slots__ = ("_exchange",)

    def __init__(self, exchange: Exchange[JoinGroupResponse]) -> None:
        self._exchange = exchange

    def complete(self, response: JoinGroupResponse, /) -> None:
        if len(response.members) > MEMBERS_IN_LOOP:
            self._exchange.complete_beside(response)
        else:
            self._exchange.complete(response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        self._exchange.fail(error, message)


def join_group(node: Node, context: RequestContext, request: JoinGroupRequest, reply: Exchange[JoinGroupResponse]) -> None:
    node.groups.write(node.partition_of(request.group_id), JOIN, context, request, JoinReply(reply))


def refuse_join_group(
    context: RequestContext, request: JoinGroupRequest, error: ErrorCode, message: str | None
) -> JoinGroupResponse:
    # The name may be null from version 7 on (KIP-559).
    protocol_name = None if context.api_version >= 7 else ""
    return JoinGroupResponse(error_code=operation_error(error), generation_id=UNKNOWN_GENERATION, protocol_name=protocol_name)


JOIN_GROUP_API = ApiRow(
    JoinGroupRequest, JoinGroupResponse, join_group, refuse_join_group, Order.ALONE, access=ApiAccess((READ_GROUP,))
)


def sync_group(node: Node, context: RequestContext, request: SyncGroupRequest, reply: Exchange[SyncGroupResponse]) -> None:
    node.groups.write(node.partition_of(request.group_id), SYNC, context, request, reply)


SYNC_GROUP_API = ApiRow(
    SyncGroupRequest,
    SyncGroupResponse,
    sync_group,
    error_only(SyncGroupResponse, OPERATION_ERRORS),
    Order.ALONE,
    access=ApiAccess((READ_GROUP,)),
)


def heartbeat(
    node: Node, context: RequestContext, request: HeartbeatRequest, reply: Exchange[HeartbeatResponse]
) -> Repeat | None:
    return node.groups.write(node.partition_of(request.group_id), HEARTBEAT, context, request, reply)


def refuse_heartbeat(
    context: RequestContext, request: HeartbeatRequest, error: ErrorCode, message: str | None
) -> HeartbeatResponse:
    # As in Kafka: a client that got this error from a heartbeat would give up its membership.
    if error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return HeartbeatResponse()
    return HeartbeatResponse(error_code=operation_error(error))


HEARTBEAT_API = ApiRow(
    HeartbeatRequest, HeartbeatResponse, heartbeat, refuse_heartbeat, Order.WRITE, access=ApiAccess((READ_GROUP,))
)


def leave_group(node: Node, context: RequestContext, request: LeaveGroupRequest, reply: Exchange[LeaveGroupResponse]) -> None:
    node.groups.write(node.partition_of(request.group_id), LEAVE, context, request, reply)


LEAVE_GROUP_API = ApiRow(
    LeaveGroupRequest,
    LeaveGroupResponse,
    leave_group,
    error_only(LeaveGroupResponse, OPERATION_ERRORS),
    Order.WRITE,
    # Kafka would let it wait for its own JoinGroup, and keep the member until its session ends.
    overtakes=frozenset({"JoinGroup", "SyncGroup"}),
    access=ApiAccess((READ_GROUP,)),
)


def describe_groups(
    node: Node, context: RequestContext, request: DescribeGroupsRequest, reply: Exchange[DescribeGroupsResponse]
) -> None:
    def describe(group_id: str) -> tuple[DescribedGroup, int]:
        try:
            group = node.groups.read(node.partition_of(group_id), GroupShard.describe_group, group_id)
        except CoordinatorError as refused:
            group = _undescribed(context, group_id, refused.error, refused.message)
        if request.include_authorized_operations and group.error_code == ErrorCode.NONE:
            group.authorized_operations = GROUP_OPERATIONS
        return group, UNITS_PER_GROUP + UNITS_PER_MEMBER * len(group.members)

    answer_list(node.steps, reply, request.groups, describe, lambda groups: DescribeGroupsResponse(groups=groups))


def refuse_describe_groups(
    context: RequestContext, request: DescribeGroupsRequest, error: ErrorCode, message: str | None
) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(groups=[_undescribed(context, group_id, error, message) for group_id in request.groups])


DESCRIBE_GROUPS_API = ApiRow(
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    describe_groups,
    refuse_describe_groups,
    Order.READ,
    access=ApiAccess(
        parts=Both(
            Each("groups", Operation.DESCRIBE, ResourceType.GROUP, lambda _, group_id: group_id, "groups", NO_MESSAGES),
            Filtered(with_group_operations),
        )
    ),
)


def _undescribed(context: RequestContext, group_id: str, error: ErrorCode, message: str | None) -> DescribedGroup:
    if error != ErrorCode.GROUP_ID_NOT_FOUND:
        return DescribedGroup(operation_error(error), group_id=group_id)
    # Before version 6 (KIP-1043) an unknown group is a dead group, not an error.
    if context.api_version < 6:
        return DescribedGroup(group_id=group_id, group_state="Dead")
    return DescribedGroup(error, message, group_id, group_state="Dead")


def list_groups(node: Node, context: RequestContext, request: ListGroupsRequest, reply: Exchange[ListGroupsResponse]) -> None:
    counts = node.groups.read_all("count-groups", GroupShard.group_count)
    if reply.is_large or sum(count for count in counts if isinstance(count, int)) > GROUPS_PER_STEP:
        reply.connection.use_up()
        node.steps.run(reply, _list_in_steps(node, request, reply))
        return
    reply.connection.use_up(LIST_US_PER_SHARD * UNITS_PER_US * len(counts))
    wanted = GroupFilter.of(request.states_filter, request.types_filter)
    groups = []
    for answer in node.groups.read_all("list-groups", GroupShard.list_groups, wanted):
        if isinstance(answer, Refused):
            # Shards of other loops are listed there. A shard that is still loading would make the list incomplete.
            if answer.error != ErrorCode.NOT_COORDINATOR:
                raise CoordinatorError(answer.error)
        else:
            groups.extend(answer)
    reply.complete(ListGroupsResponse(groups=groups))


LIST_GROUPS_API = ApiRow(
    ListGroupsRequest,
    ListGroupsResponse,
    list_groups,
    error_only(ListGroupsResponse, OPERATION_ERRORS),
    Order.READ,
    access=ApiAccess(parts=Visible("groups", ResourceType.GROUP, attrgetter("group_id"), unless=Operation.DESCRIBE)),
)


def _list_in_steps(
    node: Node, request: ListGroupsRequest, reply: Exchange[ListGroupsResponse]
) -> Work[LongAnswer[ListGroupsResponse]]:
    states: set[str] = set()
    types: set[str] = set()
    for names in in_portions(request.states_filter, NAMES_PER_STEP):
        states.update(GroupFilter.of(names, ()).states)
        yield
    for names in in_portions(request.types_filter, NAMES_PER_STEP):
        types.update(GroupFilter.of((), names).types)
        yield
    wanted = GroupFilter(states, types)
    answer = LongAnswer(reply, ListGroupsResponse(), "groups")
    for partition in range(node.partitions):
        try:
            candidates = node.groups.read(partition, GroupShard.candidates)
            for group_ids in in_portions(candidates, GROUPS_PER_STEP):
                answer.add(node.groups.read(partition, GroupShard.list_groups, wanted, group_ids))
                yield
        except CoordinatorError as refused:
            if refused.error != ErrorCode.NOT_COORDINATOR:
                raise
    return answer
