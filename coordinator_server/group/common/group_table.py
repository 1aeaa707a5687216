"""The groups of one type in one shard, whose hard state is their records: by id, and by the topics that they consume."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Generic, Protocol, TypeVar

from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict, TimelineValue
from protocol.fields import Message


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


class RecordedGroup(Protocol):
    """A group that exists while one of its records does. ``end_offset`` is the offset after its last record."""

    group_id: str
    end_offset: TimelineValue[int]

    @property
    def is_in_log(self) -> bool: ...


class GroupServices(Protocol):
    """What the groups of a table share: the timeline, the groups of each topic, and about what all members take in memory."""

    @property
    def registry(self) -> SnapshotRegistry: ...

    @property
    def by_topic(self) -> GroupsByTopic: ...

    @property
    def member_bytes(self) -> TimelineValue[int]: ...


G = TypeVar("G", bound=RecordedGroup)


class GroupTable(Generic[G]):
    """The groups of one type. ``make`` makes a group without records. A subclass has the replay functions."""

    def __init__(self, registry: SnapshotRegistry, make: Callable[[str, GroupServices], G]) -> None:
        self._make = make
        self.registry = registry
        self.by_id: TimelineDict[str, G] = TimelineDict(registry)
        self.by_topic = GroupsByTopic(registry)
        # About what the members of all groups take in memory.
        self.member_bytes = TimelineValue(registry, 0)

    def subscribed_to(self, topic: str) -> Collection[str]:
        """Return the groups that consume a topic in the latest state."""
        return self.by_topic.get(topic)

    def absent(self, group_id: str) -> G:
        """Return an empty group that is not in the table, for an operation that creates it by its records."""
        return self._make(group_id, self)

    @property
    def reverts(self) -> int:
        """Return how many times hard state was reverted."""
        return self.registry.reverts

    def replaying(self, put: Callable[[G, Any, Any], None]) -> Callable[[int, Any, Any], None]:
        """Return the replay function of a record type. ``put`` sets or removes its record in the group, given key and value."""

        def replay(offset: int, key: Any, value: Message | None) -> None:
            group_id: str = key.group_id
            group = self.by_id.get(group_id)
            if group is None:
                if value is None:
                    return
                group = self.by_id[group_id] = self._make(group_id, self)
            group.end_offset.set(offset + 1)
            put(group, key, value)
            if value is None and not group.is_in_log:
                del self.by_id[group_id]

        return replay


def of_member(put: Callable[[G, str, Any], None]) -> Callable[[G, Any, Any], None]:
    """Return the function for ``GroupTable.replaying`` that sets or removes a record of a member, given its id and the value."""
    return lambda group, key, value: put(group, key.member_id, value)
