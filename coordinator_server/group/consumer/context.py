"""The context of the operations on consumer groups in one shard, and their soft state.

Soft state is lost when the shard is unloaded: the sessions of members, and targets that are computed or were refused.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from coordinator_server.config.values import consumer_assignors
from coordinator_server.group.assign.assignors import ASSIGNORS
from coordinator_server.group.assign.spec import Assignor
from coordinator_server.group.common.regexes import RegexResolver
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.modern.background_target import BackgroundTargets
from coordinator_server.group.modern.group_table import GroupTable
from coordinator_server.group.modern.members_memory import MembersMemory
from coordinator_server.group.why import Why
from coordinator_server.machine.shard import CoordinatorResult


class Session:
    """The timers of one member.

    Members of the classic protocol have no rebalance timeout; theirs are those of joining and of syncing.
    """

    __slots__ = ("expire", "join_key", "key", "rebalance_key", "sync_key")

    def __init__(self, group_id: str, member_id: str, expire: Callable[[], CoordinatorResult[Any]]) -> None:
        self.key: Hashable = ("consumer-session", group_id, member_id)
        self.rebalance_key: Hashable = ("consumer-rebalance", group_id, member_id)
        self.join_key: Hashable = ("consumer-join", group_id, member_id)
        self.sync_key: Hashable = ("consumer-sync", group_id, member_id)
        self.expire = expire

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The keys of all timers."""
        return self.key, self.rebalance_key, self.join_key, self.sync_key


Downgrade = Callable[[ConsumerGroup, Sequence[ConsumerGroupMember], Why, Any], CoordinatorResult[Any] | None]
"""Gets the members that leave, why, and the response."""


def _stay(_group: ConsumerGroup, _leaving: Sequence[ConsumerGroupMember], _why: Why, _response: Any) -> None:
    """Return None: every group stays a consumer group."""


class ConsumerContext:
    """The consumer groups of a shard, and the services that operations use."""

    __slots__ = (
        "assignors",
        "background",
        "clock",
        "config",
        "downgrade",
        "executor",
        "groups",
        "hashes",
        "memory",
        "new_id",
        "on_revocation_end",
        "on_session_end",
        "regexes",
        "report",
        "sessions",
        "settings",
        "tell",
        "timer",
        "topics",
    )

    def __init__(self, groups: GroupTable[ConsumerGroup], context: GroupContext) -> None:
        self.groups = groups
        self.config = context.config
        # The first one is the default.
        self.assignors: dict[str, Assignor] = {name: ASSIGNORS[name] for name in consumer_assignors(context.config)}
        self.timer = context.timer
        self.clock = context.clock
        self.new_id = context.new_id
        self.report = context.report
        self.tell = context.tell
        self.topics = context.topics
        self.settings = context.settings
        self.hashes = context.topic_hashes
        # Computes the targets of large groups; without one, the loop does.
        self.executor = context.executor
        self.regexes = RegexResolver(context.topics, context.timer, context.clock, context.pass_times, context.authorize)
        # The targets of large groups, set by the type.
        self.background: BackgroundTargets[ConsumerGroup]
        # The operations of timers, set by the type: of a member by group id and member id, and of its epoch.
        self.on_session_end: Callable[[str, str], CoordinatorResult[Any]]
        self.on_revocation_end: Callable[[str, str, int], CoordinatorResult[Any]]
        # Called before members are removed: the result if the group becomes a classic one (``migration/exit.py``).
        self.downgrade: Downgrade = _stay
        # What the members of these groups take is a part of what those of all shards of the loop do.
        self.memory = MembersMemory(context.member_memory, groups.member_bytes)
        # By group id and member id.
        self.sessions: dict[str, dict[str, Session]] = {}
