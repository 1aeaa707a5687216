"""The context of the operations on share groups in one shard, and their soft state, which is lost when the shard is unloaded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.group_table import GroupTable
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.parked import ParkedReplies


class ShareContext(ModernContext[ShareGroup]):
    """The share groups of a shard, and the services that operations use."""

    __slots__ = ("attempts", "intents", "outbox", "parked", "share_shard", "unresumed")

    def __init__(self, groups: GroupTable[ShareGroup], context: GroupContext) -> None:
        super().__init__(groups, context)
        # Sends messages to the shards that keep the states of share partitions, and finds those.
        self.outbox = context.outbox
        self.share_shard = context.share_shard
        # By group id, while messages about its share partitions are on their way: what sends the next ones.
        self.attempts: dict[str, deque[Callable[[], None]]] = {}
        # The groups whose deletions wait, after a load, until their topics are known.
        self.unresumed: set[str] = set()
        # The requests that wait for other shards.
        self.parked = ParkedReplies(context.timer, context.config.log.offsets_commit_timeout_ms)
        # The last id of an intent's messages. Each has its own, also after another load: the outbox may still have earlier ones.
        self.intents = 0
