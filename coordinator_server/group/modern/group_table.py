"""The groups of one type in one shard, whose hard state is their records: by id, and by the topics that they consume."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, TypeVar

from coordinator_server.group.group_type import Replay
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.groups_by_topic import GroupsByTopic
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict, TimelineValue
from protocol.fields import Message

G = TypeVar("G", bound=ModernGroup[Any, Any])

Put = Callable[[Any, Any, Any], None]
"""Sets or removes a record in its group, given the group, key and value."""


class GroupTable(Generic[G]):
    """The groups of one type. ``make`` makes a group without records. ``others`` are record types that only this group type has."""

    def __init__(self, registry: SnapshotRegistry, make: type[G], others: Mapping[type[Message], Put]) -> None:
        self._make = make
        self.registry = registry
        self.records = make.records
        self.by_id: TimelineDict[str, G] = TimelineDict(registry)
        self.by_topic = GroupsByTopic(registry)
        # About what the members of all groups take in memory.
        self.member_bytes = TimelineValue(registry, 0)
        records = self.records
        puts: dict[type[Message], Put] = {
            records.epoch_key: put_head,
            records.target_epoch_key: put_head,
            records.member_key: lambda group, key, value: group.put_metadata(key.member_id, value),
            records.current_key: lambda group, key, value: group.put_current(key.member_id, value),
            records.target_key: lambda group, key, value: group.put_target(key.member_id, value),
            **others,
        }
        self.replay: dict[type[Message], Replay] = {key_type: self._replaying(put) for key_type, put in puts.items()}

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

    def _replaying(self, put: Put) -> Replay:
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


def put_head(group: ModernGroup[Any, Any], key: Message, value: Message | None) -> None:
    """Set or remove a singleton record."""
    group.put_head(type(key), value)
