"""What requests about groups need."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import replace

from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import ApiAccess, Asked, Need
from coordinator_server.server.guard.authorized_operations import OF_GROUPS
from coordinator_server.server.guard.parts import NO_MESSAGES, Both, Each, Filtered, Visible, divided
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode

GROUP_ID: Final = attrgetter("group_id")
READ_GROUP: Final = Need(Operation.READ, ResourceType.GROUP, GROUP_ID)
DELETE_GROUP: Final = Need(Operation.DELETE, ResourceType.GROUP, GROUP_ID)

READS_GROUP: Final[ApiAccess[Any]] = ApiAccess((READ_GROUP,))

_HIDDEN: Final = "The group has described topic(s) that the client is not authorized to describe."


class _Subscribed:
    """The topics to which a member of a newer protocol subscribes: it must be allowed to describe each."""

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether all names are allowed. Nearly every heartbeat has none."""
        names = request.subscribed_topic_names
        if not names:
            return True
        verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
        return all(verdicts[name] for name in names)

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Refuse the request for any denied topic."""
        names = request.subscribed_topic_names or ()
        _, denied = yield from divided(asked, names, Operation.DESCRIBE, ResourceType.TOPIC, lambda name: name)
        if not denied:
            return request
        reply.fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        return None


HEARTBEAT: Final[ApiAccess[Any]] = ApiAccess((READ_GROUP,), _Subscribed(), has_message=False)
"""Of the heartbeats of the newer protocols."""


SHARES: Final[ApiAccess[Any]] = ApiAccess((READ_GROUP,), in_handler=((Operation.READ, ResourceType.TOPIC),))
"""Of requests of share sessions, which have topics that a request does not name."""


def _with_operations(asked: Asked, request: Any, response: Any) -> Any:
    """Set the operations that the principal may do on each described group."""
    for group in response.groups:
        if group.authorized_operations >= 0:
            group.authorized_operations = asked.access.allowed_bits(OF_GROUPS, ResourceType.GROUP, group.group_id)
    return response


def _with_hidden(asked: Asked, request: Any, response: Any) -> Any:
    """Refuse groups with topics that the principal may not describe."""
    verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)

    def shown(group: Any) -> Any:
        if all(verdicts[name] for name in _topics_of(group)):
            return group
        return type(group)(ErrorCode.TOPIC_AUTHORIZATION_FAILED, _HIDDEN, group.group_id)

    return replace(response, groups=[shown(group) for group in _with_operations(asked, request, response).groups])


def _topics_of(group: Any) -> Iterator[str]:
    for member in group.members:
        for assignment in (member.assignment, getattr(member, "target_assignment", None)):
            if assignment is not None:
                for topic in assignment.topic_partitions:
                    yield topic.topic_name


DESCRIBE_GROUPS: Final[ApiAccess[Any]] = ApiAccess(
    parts=Both(
        Each("groups", Operation.DESCRIBE, ResourceType.GROUP, lambda _, group_id: group_id, "groups", NO_MESSAGES),
        Filtered(_with_operations),
    )
)
DESCRIBE_MEMBERS: Final[ApiAccess[Any]] = ApiAccess(
    parts=Both(
        Each("group_ids", Operation.DESCRIBE, ResourceType.GROUP, lambda _, group_id: group_id, "groups", NO_MESSAGES),
        Filtered(_with_hidden),
    )
)
"""Of the descriptions of groups of the newer protocols: the topics that their members have must be visible, too."""
LIST_GROUPS: Final[ApiAccess[Any]] = ApiAccess(parts=Visible("groups", ResourceType.GROUP, GROUP_ID, unless=Operation.DESCRIBE))
DELETE_GROUPS: Final[ApiAccess[Any]] = ApiAccess(
    parts=Each("groups_names", Operation.DELETE, ResourceType.GROUP, lambda _, group_id: group_id, "results")
)
