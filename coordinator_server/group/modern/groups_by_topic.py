"""The groups that consume each topic, and what the groups of a table share."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict, TimelineValue


class GroupsByTopic:
    """The ids of the groups that consume each topic."""

    __slots__ = ("_by_topic", "_registry")

    def __init__(self, registry: SnapshotRegistry) -> None:
        self._registry = registry
        self._by_topic: TimelineDict[str, TimelineDict[str, None]] = TimelineDict(registry)

    def get(self, topic: str) -> Collection[str]:
        """Return the groups of a topic in the latest state."""
        return self._by_topic.get(topic, ())

    def follow(self, topics: Iterable[str], group_id: str) -> None:
        """Add a group to those of each topic."""
        added: dict[str, TimelineDict[str, None]] = {}
        for topic in topics:
            groups = self._by_topic.get(topic)
            if groups is None:
                # Nobody has seen this one without the group.
                groups = added[topic] = TimelineDict(self._registry)
                groups.fill_one(group_id, None)
            else:
                groups[group_id] = None
        self._by_topic.put_all(added)

    def unfollow(self, topic: str, group_id: str) -> None:
        """Remove a group from those of a topic."""
        groups = self._by_topic[topic]
        del groups[group_id]
        if not groups:
            del self._by_topic[topic]


class GroupServices(Protocol):
    """What the groups of a table share: the timeline, the groups of each topic, and about what all members take in memory."""

    @property
    def registry(self) -> SnapshotRegistry: ...

    @property
    def by_topic(self) -> GroupsByTopic: ...

    @property
    def member_bytes(self) -> TimelineValue[int]: ...
