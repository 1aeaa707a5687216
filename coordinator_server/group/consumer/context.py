"""The context of the operations on consumer groups in one shard, and their soft state.

Soft state is lost when the shard is unloaded: the sessions of members, and targets that are computed or were refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from coordinator_server.config.values import consumer_assignors
from coordinator_server.group.assign.assignors import ASSIGNORS
from coordinator_server.group.assign.spec import Assignor
from coordinator_server.group.common.regexes import RegexResolver
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.group_table import GroupTable
from coordinator_server.group.modern.revocation import REBALANCE
from coordinator_server.group.why import Why
from coordinator_server.machine.shard import CoordinatorResult

# Timers of members of the classic protocol, which have no rebalance timeout (``modern/revocation.py``).
JOIN: Final = "join"
SYNC: Final = "sync"

Downgrade = Callable[[ConsumerGroup, Sequence[ConsumerGroupMember], Why, Any], CoordinatorResult[Any] | None]
"""Gets the members that leave, why, and the response."""


def _stay(_group: ConsumerGroup, _leaving: Sequence[ConsumerGroupMember], _why: Why, _response: Any) -> None:
    """Return None: every group stays a consumer group."""


class ConsumerContext(ModernContext[ConsumerGroup]):
    """The consumer groups of a shard, and the services that operations use."""

    timers = (REBALANCE, JOIN, SYNC)

    __slots__ = ("assignors", "downgrade", "new_id", "regexes")

    def __init__(self, groups: GroupTable[ConsumerGroup], context: GroupContext) -> None:
        super().__init__(groups, context)
        # The first one is the default.
        self.assignors: dict[str, Assignor] = {name: ASSIGNORS[name] for name in consumer_assignors(context.config)}
        self.new_id = context.new_id
        self.regexes = RegexResolver(
            context.topics, context.timer, context.clock, context.pass_times, context.authorize, context.topic_hashes.of_topic
        )
        # Called before members are removed: the result if the group becomes a classic one (``migration/exit.py``).
        self.downgrade: Downgrade = _stay

    def session_timeout_ms(self, group_id: str, member: ConsumerGroupMember) -> int:
        """Return the session timeout of a member: its own if it uses the classic protocol."""
        own = member.classic_member_metadata
        return super().session_timeout_ms(group_id, member) if own is None else own.session_timeout_ms
