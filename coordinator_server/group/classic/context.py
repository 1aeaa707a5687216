"""The context of the classic protocol's operations in one shard."""

from __future__ import annotations

from coordinator_server.group.classic.answers import Answers
from coordinator_server.group.classic.groups import ClassicGroups
from coordinator_server.group.group_type import GroupContext


class ClassicContext:
    """The classic groups of a shard, and the services that operations use."""

    __slots__ = ("answers", "clock", "config", "groups", "member_memory", "new_id", "report", "tell", "timer")

    def __init__(self, groups: ClassicGroups, context: GroupContext) -> None:
        self.groups = groups
        self.answers = Answers(context.timer)
        self.config = context.config
        self.timer = context.timer
        self.clock = context.clock
        self.new_id = context.new_id
        self.report = context.report
        self.tell = context.tell
        self.member_memory = context.member_memory
