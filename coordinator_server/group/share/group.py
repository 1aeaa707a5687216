"""A share group: hard state, all of it (Kafka's ``ShareGroup``).

The values of the group's records by key, and what follows from them: counts of subscriptions, and the topics of its share
partitions. Only ``replay`` changes it. The group exists while one of its records does. Records may come in any order and be
incomplete, as a compacted log has them: a member exists while it has a subscription or an assignment, and no order is refused.

The group's epoch rises with each change of subscriptions, topics or initialized partitions. The target assignment's follows, and
each member's follows that at its next heartbeat: several members may have the same partition, so no member waits for another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.common.counts import recount
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.group_table import GroupTable, put_head
from coordinator_server.group.modern.groups_by_topic import GroupServices
from coordinator_server.group.share.member import NO_METADATA, ShareGroupMember
from coordinator_server.group.share.records import RECORDS
from coordinator_server.group.share.state_topics import NO_STATE_TOPICS, StateTopics, state_topics_of
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict, TimelineValue
from protocol.fields import Message
from protocol.messages.share_group_records import (
    ShareGroupMemberMetadataValue,
    ShareGroupStatePartitionMetadataKey,
)

EMPTY: Final = "Empty"
STABLE: Final = "Stable"


class ShareGroup(ModernGroup[ShareGroupMember, Partitions]):
    """One share group."""

    records = RECORDS
    new_member = ShareGroupMember

    __slots__ = ("assigned_for", "state_topics", "subscribed_topics")

    def __init__(self, group_id: str, services: GroupServices) -> None:
        super().__init__(group_id, services)
        registry = services.registry
        # Derived: the share partitions, from their record.
        self.state_topics: TimelineValue[StateTopics] = TimelineValue(registry, NO_STATE_TOPICS)
        # Derived: the number of members that name a topic.
        self.subscribed_topics: TimelineDict[str, int] = TimelineDict(registry)
        # Soft state: the records for which all initialized partitions were found to be assigned (``assigned.py``).
        self.assigned_for: tuple[Any, ...] | None = None

    @property
    def has_state_record(self) -> bool:
        """Whether the log has a record of the group's share partitions."""
        return ShareGroupStatePartitionMetadataKey in self.head

    @property
    def consumed_topics(self) -> Iterable[str]:
        return self.subscribed_topics

    def state_at(self, committed_offset: int = LATEST) -> str:
        """Return the state as of ``committed_offset``: a group with members is always stable."""
        return STABLE if self.members_at(committed_offset) else EMPTY

    def other_keys(self) -> Sequence[Message]:
        return (ShareGroupStatePartitionMetadataKey(self.group_id),)

    # --- replay

    def put_head(self, key_type: type[Message], value: Any) -> None:
        """Set or remove a record of which there is one."""
        super().put_head(key_type, value)
        if key_type is ShareGroupStatePartitionMetadataKey:
            self.state_topics.set(NO_STATE_TOPICS if value is None else state_topics_of(value))

    def _metadata_put(self, old: ShareGroupMember | None, member: ShareGroupMember) -> None:
        self._count(NO_METADATA if old is None else old.metadata, member.metadata)

    def _count(self, old: ShareGroupMemberMetadataValue, new: ShareGroupMemberMetadataValue) -> None:
        before, after = set(old.subscribed_topic_names), set(new.subscribed_topic_names)
        gone, come = before - after, after - before
        self._services.by_topic.follow((topic for topic in come if topic not in self.subscribed_topics), self.group_id)
        recount(self.subscribed_topics, gone, come)
        self._services.by_topic.unfollow((topic for topic in gone if topic not in self.subscribed_topics), self.group_id)


def share_groups(registry: SnapshotRegistry) -> GroupTable[ShareGroup]:
    """Return an empty table. A group consumes the topics that its members name."""
    return GroupTable(registry, ShareGroup, {ShareGroupStatePartitionMetadataKey: put_head})


def topics_after(group: ShareGroup, old: Iterable[str], new: Iterable[str]) -> dict[str, int]:
    """Return the number of members by topic when one that named the topics ``old`` names the topics ``new``."""
    counts = dict(group.subscribed_topics)
    recount(counts, set(old), set(new))
    return counts


def is_homogeneous(topics: dict[str, int] | TimelineDict[str, int], members: int) -> bool:
    """Return whether all members subscribe to the same topics."""
    return all(count == members for count in topics.values())
