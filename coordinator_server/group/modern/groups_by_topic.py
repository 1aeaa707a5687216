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
        # Most topics have one group, which may have thousands of topics.
        self._by_topic: TimelineDict[str, str | TimelineDict[str, None]] = TimelineDict(registry)

    def get(self, topic: str) -> Collection[str]:
        """Return the groups of a topic in the latest state."""
        groups = self._by_topic.get(topic, ())
        return (groups,) if isinstance(groups, str) else groups

    def follow(self, topics: Iterable[str], group_id: str) -> None:
        """Add a group to those of each topic."""
        changed: dict[str, str | TimelineDict[str, None]] = {}
        for topic in topics:
            groups = self._by_topic.get(topic)
            if groups is None:
                changed[topic] = group_id
            elif isinstance(groups, str):
                # Nobody has seen this container without both.
                both = changed[topic] = TimelineDict(self._registry)
                both.fill(((groups, None), (group_id, None)))
            else:
                groups[group_id] = None
        self._by_topic.put_all(changed)

    def unfollow(self, topics: Iterable[str], group_id: str) -> None:
        """Remove a group from those of each topic."""
        left: list[str] = []
        for topic in topics:
            groups = self._by_topic[topic]
            if isinstance(groups, str) or len(groups) == 1:
                # What it was stays in the container, for who looks back.
                left.append(topic)
            else:
                del groups[group_id]
        self._by_topic.remove_all(left)


class GroupServices(Protocol):
    """What the groups of a table share: the timeline, the groups of each topic, and about what all members take in memory."""

    @property
    def registry(self) -> SnapshotRegistry: ...

    @property
    def by_topic(self) -> GroupsByTopic: ...

    @property
    def member_bytes(self) -> TimelineValue[int]: ...
