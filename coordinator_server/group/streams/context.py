"""The context of the operations on streams groups in one shard."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from coordinator_server.group.common.settings import StreamsSettings
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.group_table import GroupTable
from coordinator_server.group.modern.revocation import REBALANCE
from coordinator_server.group.streams.group import StreamsGroup

_DELAY: Final = "streams-initial-delay"


class StreamsContext(ModernContext[StreamsGroup]):
    """The streams groups of a shard, and the services that operations use."""

    timers = (REBALANCE,)

    __slots__ = ("delayed",)

    def __init__(self, groups: GroupTable[StreamsGroup], context: GroupContext) -> None:
        super().__init__(groups, context)
        # The ids of groups that wait for more members before their first assignment (``target.py``).
        self.delayed: set[str] = set()

    def own_settings(self, group_id: str) -> StreamsSettings:
        """Return the settings of a group that only streams groups have, too."""
        return self.settings(group_id).streams

    def partition_count(self, name: str) -> int | None:
        """Return the number of partitions of a topic; None if it does not exist. Raises CoordinatorError."""
        topic = self.topics.topic(name)
        return None if topic is None else topic.partitions


def delay_key(group_id: str) -> Hashable:
    """Return the key of the timer of a group's first assignment."""
    return _DELAY, group_id
