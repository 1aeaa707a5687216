"""The context of the operations on the groups of one type in one shard, and their soft state.

Soft state is lost when the shard is unloaded: the sessions of members, and targets that are computed or were refused.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar

from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.modern.background_target import BackgroundTargets
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.group_table import GroupTable
from coordinator_server.group.modern.members_memory import MembersMemory
from coordinator_server.machine.shard import CoordinatorResult

G = TypeVar("G", bound=ModernGroup[Any, Any])


class ModernSettings(Protocol):
    """The settings of a group that all types have."""

    @property
    def session_timeout_ms(self) -> int: ...

    @property
    def heartbeat_interval_ms(self) -> int: ...

    @property
    def assignment_interval_ms(self) -> int: ...


class Session:
    """The session of one member: the key of its timer, and what happens when it expires."""

    __slots__ = ("expire", "key")

    def __init__(self, key: Hashable, expire: Callable[[], CoordinatorResult[Any]]) -> None:
        self.key = key
        self.expire = expire


class ModernContext(Generic[G]):
    """The groups of one type in a shard, and the services that operations use. ``timers`` names further timers of a member."""

    timers: tuple[str, ...] = ()

    __slots__ = (
        "_has_topics",
        "background",
        "clock",
        "config",
        "executor",
        "groups",
        "hashes",
        "memory",
        "on_restart",
        "on_session_end",
        "records",
        "report",
        "sessions",
        "settings",
        "tell",
        "timer",
        "topics",
        "type_name",
    )

    def __init__(self, groups: GroupTable[G], context: GroupContext) -> None:
        self.groups = groups
        self.records = groups.records
        self.type_name = groups.records.type_name
        self.config = context.config
        self.timer = context.timer
        self.clock = context.clock
        self.report = context.report
        self.tell = context.tell
        self.topics = context.topics
        self.settings = context.settings
        self.hashes = context.topic_hashes
        # Whether this loop has the topics that existed at the load; None before the load, and once it had.
        self._has_topics: Callable[[], bool] | None = None
        # Computes the targets of large groups; without one, the loop does.
        self.executor = context.executor
        # The targets of large groups, set by the type.
        self.background: BackgroundTargets[G]
        # The operation of a session's timer, set by the type: by group id and member id.
        self.on_session_end: Callable[[str, str], CoordinatorResult[Any]]
        # Starts the further timers of a member, after a load, or when a change of it was not written: group id and member.
        self.on_restart: Callable[[str, Any], None] = _nothing
        # What the members of these groups take is a part of what those of all shards of the loop do.
        self.memory = MembersMemory(context.member_memory, groups.member_bytes)
        # By group id and member id.
        self.sessions: dict[str, dict[str, Session]] = {}

    def await_topics(self) -> None:
        """Note that the shard is loaded: a former owner of it may have known topics that come late here."""
        self._has_topics = self.topics.has_all_of_now()

    @property
    def has_topics(self) -> bool:
        """Whether this loop has had all topics, with all partitions, that a former owner of the shard can have known."""
        if self._has_topics is not None and self.topics.is_current and self._has_topics():
            self._has_topics = None
        return self._has_topics is None

    def settings_of(self, group_id: str) -> ModernSettings:
        """Return the settings of a group that all types have."""
        found: ModernSettings = getattr(self.settings(group_id), self.type_name)
        return found

    def session_timeout_ms(self, group_id: str, member: Any) -> int:
        """Return the session timeout of a member."""
        return self.settings_of(group_id).session_timeout_ms

    def timer_key(self, name: str, group_id: str, member_id: str) -> Hashable:
        """Return the key of a timer of a member: ``session``, or one of ``timers``."""
        return f"{self.type_name}-{name}", group_id, member_id


def _nothing(_group_id: str, _member: Any) -> None:
    """Do nothing."""
