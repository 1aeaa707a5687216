"""Answers that describe groups of one of the newer protocols, member by member: ConsumerGroupDescribe and ShareGroupDescribe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

from coordinator_server.group.common.described import UNITS_PER_MEMBER
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.lists import UNITS_PER_STEP
from coordinator_server.server.exchange.api_row import Handler, Refusal
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.authorized_operations import GROUP_OPERATIONS
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.quantum import QUANTUM
from protocol.error_codes import ErrorCode

UNITS_PER_GROUP: Final = 4


class Undescribed(Protocol):
    """A group as of an offset. ``head`` is its description without members."""

    @property
    def head(self) -> Any: ...

    def described_members(self) -> Iterator[tuple[Any, int]]:
        """Yield the description of each member, and the units of its work."""


class GroupDescription(NamedTuple):
    """How groups of one type are described. The messages are those of its API.

    ``group_at`` is a read operation of a group shard that takes a group id.
    """

    response: Callable[..., Any]
    described_group: Callable[..., Any]
    group_at: Callable[[Any, int, str], Undescribed]


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


def _group_at(description: GroupDescription, node: Node, group_id: str) -> Undescribed | _Refused:
    """Return the group, or its refusal."""
    if not group_id:
        return _Refused(_undescribed(description, "", ErrorCode.INVALID_GROUP_ID, None))
    try:
        return node.groups.read(node.partition_of(group_id), description.group_at, group_id)
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
