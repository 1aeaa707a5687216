"""A share group: hard state, all of it (Kafka's ``ShareGroup``).

The values of the group's records by key, and what follows from them: counts of subscriptions, and the topics of its share
partitions. Only ``replay`` changes it. The group exists while one of its records does. Records may come in any order and be
incomplete, as a compacted log has them: a member exists while it has a subscription or an assignment, and no order is refused.

The group's epoch rises with each change of subscriptions, topics or initialized partitions. The target assignment's follows, and
each member's follows that at its next heartbeat: several members may have the same partition, so nobody waits for anybody.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.common.counts import recount
from coordinator_server.group.common.group_table import GroupServices
from coordinator_server.group.common.limits import texts_bytes
from coordinator_server.group.common.target_assignment import NO_PARTITIONS, TargetAssignment
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

_NEW_GROUP: Final = ShareGroupMetadataValue(epoch=1)
_NO_TARGET: Final = ShareGroupTargetAssignmentMetadataValue(assignment_epoch=1)


class ShareGroup:
    """One share group. All containers are timeline containers; the last attributes are soft state."""

    __slots__ = (
        "_services",
        "assigned_for",
        "compared_epoch",
        "end_offset",
        "group_id",
        "head",
        "member_bytes",
        "members",
        "most_members",
        "state_topics",
        "subscribed_topics",
        "targets",
    )

    def __init__(self, group_id: str, services: GroupServices) -> None:
        self.group_id = group_id
        self._services = services
        registry = services.registry
        # The offset after the group's last record: answers about the group wait until the log is durable up to it.
        self.end_offset = TimelineValue(registry, 0)
        # The records that a group has at most one of, by type of the key.
        self.head: TimelineDict[type[Message], Any] = TimelineDict(registry)
        self.members: TimelineDict[str, ShareGroupMember] = TimelineDict(registry)
        # The largest number of members so far, on which the order depends in which Kafka iterates over them. It is not timeline
        # state: it is as it was when the change that raised it is reverted, as in Kafka.
        self.most_members = 0
        self.targets: TimelineDict[str, TargetAssignment[ShareGroupTargetAssignmentMemberValue]] = TimelineDict(registry)
        # Derived: the share partitions, from their record.
        self.state_topics: TimelineValue[StateTopics] = TimelineValue(registry, NO_STATE_TOPICS)
        # Derived: the number of members that name a topic.
        self.subscribed_topics: TimelineDict[str, int] = TimelineDict(registry)
        # Derived: about what the members take in memory, without their assignments; the shard has the sum over its groups.
        self.member_bytes = TimelineValue(registry, 0)
        # Soft state: the epoch whose hash was compared with the present topics; None if they may have changed since.
        self.compared_epoch: int | None = None
        # Soft state: the records for which all initialized partitions were found to be assigned (``assigned.py``).
        self.assigned_for: tuple[Any, ...] | None = None

    # --- the records of which there is one

    @property
    def group_epoch(self) -> int:
        """The epoch; 1 before the first record."""
        epoch: int = self.head.get(ShareGroupMetadataKey, _NEW_GROUP).epoch
        return epoch

    @property
    def metadata_hash(self) -> int:
        """The hash of the subscribed topics, as of the group's epoch."""
        found: int = self.head.get(ShareGroupMetadataKey, _NEW_GROUP).metadata_hash
        return found

    @property
    def assignment_epoch(self) -> int:
        """The epoch of the target assignment; 1 before the first record."""
        epoch: int = self.head.get(ShareGroupTargetAssignmentMetadataKey, _NO_TARGET).assignment_epoch
        return epoch

    @property
    def assignment_timestamp(self) -> int:
        """The wall-clock time of the target assignment in milliseconds; 0 if unknown."""
        timestamp: int = self.head.get(ShareGroupTargetAssignmentMetadataKey, _NO_TARGET).assignment_timestamp
        return timestamp

    @property
    def has_state_record(self) -> bool:
        """Whether the log has a record of the group's share partitions."""
        return ShareGroupStatePartitionMetadataKey in self.head

    @property
    def is_in_log(self) -> bool:
        """Whether the group has a record."""
        return bool(self.members or self.head or self.targets)

    # --- reads

    def target(self, member_id: str) -> Partitions:
        """Return the target assignment of a member; empty if it has none."""
        target = self.targets.get(member_id)
        return NO_PARTITIONS if target is None else target.partitions

    # --- replay

    def put_head(self, key_type: type[Message], value: Any) -> None:
        """Set or remove a record of which there is one."""
        if value is not None:
            self.head[key_type] = value
        else:
            self.head.pop(key_type, None)
        if key_type is ShareGroupStatePartitionMetadataKey:
            self.state_topics.set(NO_STATE_TOPICS if value is None else state_topics_of(value))

    def put_metadata(self, member_id: str, value: ShareGroupMemberMetadataValue | None) -> None:
        """Set or remove a member's subscription."""
        old = self.members.get(member_id)
        if old is None and value is None:
            return
        member = (old or ShareGroupMember(member_id)).with_metadata(value or NO_METADATA)
        self._put(member)
        self._count(NO_METADATA if old is None else old.metadata, member.metadata)

    def put_current(self, member_id: str, value: ShareGroupCurrentMemberAssignmentValue | None) -> None:
        """Set or remove a member's assignment."""
        old = self.members.get(member_id)
        if old is None and value is None:
            return
        self._put((old or ShareGroupMember(member_id)).with_current(value or NO_ASSIGNMENT))

    def put_target(self, member_id: str, value: ShareGroupTargetAssignmentMemberValue | None) -> None:
        """Set or remove a member's target assignment."""
        if value is not None:
            self.targets[member_id] = TargetAssignment(value)
        else:
            self.targets.pop(member_id, None)

    def _put(self, member: ShareGroupMember) -> None:
        if member.is_in_log:
            self.members[member.member_id] = member
            self.most_members = max(self.most_members, len(self.members))
        else:
            del self.members[member.member_id]

    def _count(self, old: ShareGroupMemberMetadataValue, new: ShareGroupMemberMetadataValue) -> None:
        services, more = self._services, metadata_bytes(new) - metadata_bytes(old)
        if more:
            self.member_bytes.set(self.member_bytes.value + more)
            services.member_bytes.set(services.member_bytes.value + more)
        before, after = set(old.subscribed_topic_names), set(new.subscribed_topic_names)
        gone, come = before - after, after - before
        services.by_topic.follow((topic for topic in come if topic not in self.subscribed_topics), self.group_id)
        recount(self.subscribed_topics, gone, come)
        for topic in gone:
            if topic not in self.subscribed_topics:
                services.by_topic.unfollow(topic, self.group_id)


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
