"""A share group: hard state, all of it (Kafka's ``ShareGroup``).

The values of the group's records by key, and what follows from them: counts of subscriptions, and the topics of its share
partitions. Only ``replay`` changes it. The group exists while one of its records does. Records may come in any order and be
incomplete, as a compacted log has them: a member exists while it has a subscription or an assignment, and no order is refused.

The group's epoch rises with each change of subscriptions, topics or initialized partitions. The target assignment's follows, and
each member's follows that at its next heartbeat: several members may have the same partition, so nobody waits for anybody.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coordinator_server.group.common.counts import recount
from coordinator_server.group.common.group_table import GroupServices
from coordinator_server.group.common.limits import texts_bytes
from coordinator_server.group.common.modern_group import ModernGroup
from coordinator_server.group.share.member import NO_ASSIGNMENT, NO_METADATA, ShareGroupMember
from coordinator_server.group.share.state_topics import NO_STATE_TOPICS, StateTopics, state_topics_of
from coordinator_server.machine.timeline import TimelineDict, TimelineValue
from protocol.fields import Message
from protocol.messages.share_group_records import (
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)


class ShareGroup(ModernGroup[ShareGroupMember, ShareGroupTargetAssignmentMemberValue]):
    """One share group."""

    epoch_key = ShareGroupMetadataKey
    no_epoch = ShareGroupMetadataValue(epoch=1)
    target_key = ShareGroupTargetAssignmentMetadataKey
    no_target = ShareGroupTargetAssignmentMetadataValue(assignment_epoch=1)

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

    # --- replay

    def put_head(self, key_type: type[Message], value: Any) -> None:
        """Set or remove a record of which there is one."""
        super().put_head(key_type, value)
        if key_type is ShareGroupStatePartitionMetadataKey:
            self.state_topics.set(NO_STATE_TOPICS if value is None else state_topics_of(value))

    def put_metadata(self, member_id: str, value: ShareGroupMemberMetadataValue | None) -> None:
        """Set or remove a member's subscription."""
        old = self.members.get(member_id)
        if old is None and value is None:
            return
        member = (old or ShareGroupMember(member_id)).with_metadata(value or NO_METADATA)
        self._put_member(member)
        self._count(NO_METADATA if old is None else old.metadata, member.metadata)

    def put_current(self, member_id: str, value: ShareGroupCurrentMemberAssignmentValue | None) -> None:
        """Set or remove a member's assignment."""
        old = self.members.get(member_id)
        if old is None and value is None:
            return
        self._put_member((old or ShareGroupMember(member_id)).with_current(value or NO_ASSIGNMENT))

    def _count(self, old: ShareGroupMemberMetadataValue, new: ShareGroupMemberMetadataValue) -> None:
        self._count_bytes(metadata_bytes(new) - metadata_bytes(old))
        before, after = set(old.subscribed_topic_names), set(new.subscribed_topic_names)
        gone, come = before - after, after - before
        self._services.by_topic.follow((topic for topic in come if topic not in self.subscribed_topics), self.group_id)
        recount(self.subscribed_topics, gone, come)
        for topic in gone:
            if topic not in self.subscribed_topics:
                self._services.by_topic.unfollow(topic, self.group_id)


def metadata_bytes(metadata: ShareGroupMemberMetadataValue) -> int:
    """Return about what a member takes in memory, beside its assignment; 0 without metadata."""
    if metadata is NO_METADATA:
        return 0
    return texts_bytes((metadata.rack_id, metadata.client_id, metadata.client_host), metadata.subscribed_topic_names)


def topics_after(group: ShareGroup, old: Iterable[str], new: Iterable[str]) -> dict[str, int]:
    """Return the number of members by topic when one that named the topics ``old`` names the topics ``new``."""
    counts = dict(group.subscribed_topics)
    recount(counts, set(old), set(new))
    return counts


def is_homogeneous(topics: dict[str, int] | TimelineDict[str, int], members: int) -> bool:
    """Return whether all members subscribe to the same topics."""
    return all(count == members for count in topics.values())
