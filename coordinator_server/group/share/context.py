"""The context of the operations on share groups in one shard, and their soft state, which is lost when the shard is unloaded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.modern.background_target import BackgroundTargets
from coordinator_server.group.modern.group_table import GroupTable
from coordinator_server.group.modern.members_memory import MembersMemory
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.parked import ParkedReplies
from coordinator_server.group.share.session import Session
from coordinator_server.machine.shard import CoordinatorResult


class ShareContext:
    """The share groups of a shard, and the services that operations use."""

    __slots__ = (
        "attempts",
        "background",
        "clock",
        "config",
        "executor",
        "groups",
        "hashes",
        "intents",
        "memory",
        "on_session_end",
        "outbox",
        "parked",
        "report",
        "sessions",
        "settings",
        "share_shard",
        "tell",
        "timer",
        "topics",
        "unresumed",
    )

    def __init__(self, groups: GroupTable[ShareGroup], context: GroupContext) -> None:
        self.groups = groups
        self.config = context.config
        self.timer = context.timer
        self.clock = context.clock
        self.report = context.report
        self.tell = context.tell
        self.topics = context.topics
        self.hashes = context.topic_hashes
        self.settings = context.settings
        # Computes the targets of large groups; without one, the loop does.
        self.executor = context.executor
        # The targets of large groups, set by the type.
        self.background: BackgroundTargets[ShareGroup]
        # Sends messages to the shards that keep the states of share partitions, and finds those.
        self.outbox = context.outbox
        self.share_shard = context.share_shard
        # What the members of these groups take is a part of what those of all shards of the loop do.
        self.memory = MembersMemory(context.member_memory, groups.member_bytes)
        # The operation of a session's timer, set by the type: by group id and member id.
        self.on_session_end: Callable[[str, str], CoordinatorResult[Any]]
        # By group id and member id.
        self.sessions: dict[str, dict[str, Session]] = {}
        # By group id, while messages about its share partitions are on their way: what sends the next ones.
        self.attempts: dict[str, deque[Callable[[], None]]] = {}
        # The groups whose deletions wait, after a load, until their topics are known.
        self.unresumed: set[str] = set()
        # The requests that wait for other shards.
        self.parked = ParkedReplies()
        # The last id of an intent's messages. Each has its own, also after another load: the outbox may still have earlier ones.
        self.intents = 0
