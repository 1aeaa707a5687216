"""Answers that describe groups of one of the newer protocols, member by member: ConsumerGroupDescribe, ShareGroupDescribe and
StreamsGroupDescribe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from coordinator_server.group.modern.describe import UNITS_PER_MEMBER, UndescribedGroup
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.lists import UNITS_PER_STEP
from coordinator_server.server.exchange.api_row import Handler, Refusal
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import ApiAccess, Asked
from coordinator_server.server.guard.authorized_operations import GROUP_OPERATIONS, with_group_operations
from coordinator_server.server.guard.parts import NO_MESSAGES, Both, Each, Filtered
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.quantum import QUANTUM
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode

UNITS_PER_GROUP: Final = 4
TopicsOf = Callable[[Any], Iterator[str]]
"""Returns the topics that the description of a group names."""
_HIDDEN: Final = "The group has described topic(s) that the client is not authorized to describe."


class GroupDescription(NamedTuple):
    """How groups of one type are described. The messages are those of its API."""

    response: Callable[..., Any]
    described_group: Callable[..., Any]
    type_name: str


def describing(description: GroupDescription) -> Handler[Any, Any]:
    """Return the handler of an API."""

    def describe(node: Node, context: RequestContext, request: Any, reply: Exchange[Any]) -> None:
        if not reply.is_large:
            try:
                next(_describe_in_steps(description, node, request))
            except StopIteration as done:
                response = done.value
                units = sum(UNITS_PER_GROUP + UNITS_PER_MEMBER * len(group.members) for group in response.groups)
                reply.connection.use_up(units * QUANTUM // UNITS_PER_STEP)
                reply.complete(response)
                return
            reply.connection.use_up()
        node.steps.run(reply, _describe_in_steps(description, node, request))

    return describe


def _describe_in_steps(description: GroupDescription, node: Node, request: Any) -> Work[Any]:
    """Describe each group as it is when its turn comes, a portion of its members at a time."""
    groups: list[Any] = []
    left = UNITS_PER_STEP
    for group_id in request.group_ids:
        found = _group_at(description, node, group_id)
        left -= UNITS_PER_GROUP
        if isinstance(found, _Refused):
            groups.append(found.group)
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
    return description.response(groups=groups)


class _Refused(NamedTuple):
    group: Any


def _group_at(description: GroupDescription, node: Node, group_id: str) -> UndescribedGroup | _Refused:
    """Return the group, or its refusal."""
    if not group_id:
        return _Refused(_undescribed(description, "", ErrorCode.INVALID_GROUP_ID, None))
    try:
        return node.groups.read(node.partition_of(group_id), GroupShard.modern_group_at, (description.type_name, group_id))
    except CoordinatorError as refused:
        return _Refused(_undescribed(description, group_id, refused.error, refused.message))


def refusing(description: GroupDescription) -> Refusal[Any, Any]:
    """Return the refusal of all groups of a request."""

    def refuse(context: RequestContext, request: Any, error: ErrorCode, message: str | None) -> Any:
        group_ids: Sequence[str] = request.group_ids
        return description.response(groups=[_undescribed(description, group_id, error, message) for group_id in group_ids])

    return refuse


def _undescribed(description: GroupDescription, group_id: str, error: ErrorCode, message: str | None) -> Any:
    """Return the refusal of a group. Only of an unknown group the answer has a message, as in Kafka."""
    said = message if error == ErrorCode.GROUP_ID_NOT_FOUND else None
    return description.described_group(operation_error(error), said, group_id)


def _with_hidden(topics_of: TopicsOf, message: str, asked: Asked, request: Any, response: Any) -> Any:
    """Refuse groups with topics that the principal may not describe."""
    verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)

    def shown(group: Any) -> Any:
        if all(verdicts[name] for name in topics_of(group)):
            return group
        return type(group)(ErrorCode.TOPIC_AUTHORIZATION_FAILED, message, group.group_id)

    return replace(response, groups=[shown(group) for group in with_group_operations(asked, request, response).groups])


def _topics_of(group: Any) -> Iterator[str]:
    for member in group.members:
        for assignment in (member.assignment, getattr(member, "target_assignment", None)):
            if assignment is not None:
                for topic in assignment.topic_partitions:
                    yield topic.topic_name


def describes_members(topics_of: TopicsOf, message: str) -> ApiAccess[Any]:
    """Return the access of an API. The topics of a described group must be visible, too: ``message`` says that one is not."""
    return ApiAccess(
        parts=Both(
            Each("group_ids", Operation.DESCRIBE, ResourceType.GROUP, lambda _, group_id: group_id, "groups", NO_MESSAGES),
            Filtered(partial(_with_hidden, topics_of, message)),
        )
    )


DESCRIBES_MEMBERS: Final[ApiAccess[Any]] = describes_members(_topics_of, _HIDDEN)
"""The topics that the members of a described group have must be visible, too."""
