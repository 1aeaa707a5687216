"""A consumer group: hard state, all of it (Kafka's ``ConsumerGroup``).

The values of the group's records by key, and what follows from them: static members, partition epochs, counts of subscriptions.
Only ``replay`` changes it. The group exists while one of its records does. Records may come in any order and be incomplete, as a
compacted log has them: a member exists while it has a subscription or an assignment, and no order is refused.

The group's epoch rises with each change of subscriptions or topics. The target assignment's follows, and each member's follows
that, member by member. ``partition_epochs`` has the epoch of the owner of each partition: until it has released the partition,
nobody else gets it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.common.counts import recount
from coordinator_server.group.consumer.member import NO_METADATA, ConsumerGroupMember, Epochs, TopicId
from coordinator_server.group.consumer.records import RECORDS
from coordinator_server.group.modern.group_table import GroupTable, Put, put_head
from coordinator_server.group.modern.groups_by_topic import GroupServices
from coordinator_server.group.modern.reconciling_group import ReconcilingGroup
from coordinator_server.group.modern.target_assignment import TargetAssignment
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict, TimelineValue
from protocol.fields import Message
from protocol.messages.consumer_group_records import (
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)

K = TypeVar("K")

NO_EPOCH = -1


class SubscriptionCount(NamedTuple):
    """The number of members that name a topic, and of resolved regular expressions that match it."""

    by_name: int = 0
    by_regex: int = 0


NO_COUNT = SubscriptionCount()
_NOBODY: Mapping[int, int] = {}


class ConsumerGroup(ReconcilingGroup[ConsumerGroupMember, Partitions]):
    """One consumer group."""

    records = RECORDS
    new_member = ConsumerGroupMember

    __slots__ = (
        "classic_members",
        "classic_protocols",
        "partition_epochs",
        "regex_members",
        "regexes",
        "server_assignors",
        "static_members",
        "subscribed_topics",
    )

    def __init__(self, group_id: str, services: GroupServices) -> None:
        super().__init__(group_id, services)
        registry = services.registry
        self.regexes: TimelineDict[str, ConsumerGroupRegularExpressionValue] = TimelineDict(registry)
        # Derived: member id by instance id, and the epoch of each partition's owner.
        self.static_members: TimelineDict[str, str] = TimelineDict(registry)
        # Those of a topic never change while one member has all of them, and are a timeline container once others have some.
        self.partition_epochs: TimelineDict[TopicId, Mapping[int, int]] = TimelineDict(registry)
        # Derived counts: of subscriptions by topic, of members by regular expression and by server assignor.
        self.subscribed_topics: TimelineDict[str, SubscriptionCount] = TimelineDict(registry)
        self.regex_members: TimelineDict[str, int] = TimelineDict(registry)
        self.server_assignors: TimelineDict[str, int] = TimelineDict(registry)
        # Derived counts of members that use the classic protocol: all of them, and by supported protocol.
        self.classic_members = TimelineValue(registry, 0)
        self.classic_protocols: TimelineDict[str, int] = TimelineDict(registry)

    @property
    def has_partition_metadata(self) -> bool:
        """Whether the log has the record that the metadata hash has replaced. The next change of the group removes it."""
        return ConsumerGroupPartitionMetadataKey in self.head

    @property
    def is_in_log(self) -> bool:
        """Whether the group has a record."""
        return super().is_in_log or bool(self.regexes)

    @property
    def record_containers(self) -> tuple[object, ...]:
        return *super().record_containers, self.regexes

    def records_at(self, committed_offset: int) -> Iterator[tuple[Message, Message]]:
        yield from super().records_at(committed_offset)
        for regex, resolved in self.regexes.items_at(committed_offset):
            yield ConsumerGroupRegularExpressionKey(self.group_id, regex), resolved

    # --- reads

    @property
    def consumed_topics(self) -> Iterable[str]:
        return self.subscribed_topics

    def other_keys(self) -> Sequence[Message]:
        of_regexes = [ConsumerGroupRegularExpressionKey(self.group_id, regex) for regex in self.regexes]
        return [*of_regexes, ConsumerGroupPartitionMetadataKey(self.group_id)]

    def static_member(self, instance_id: str | None) -> ConsumerGroupMember | None:
        """Return the member with this instance id."""
        member_id = None if instance_id is None else self.static_members.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def has_target(self, member: ConsumerGroupMember) -> bool:
        """Return whether a member has a target assignment, of its own or of the static member that it replaces."""
        instance_id = member.instance_id
        heir_of = None if instance_id is None else self.static_members.get(instance_id)
        return member.member_id in self.targets or heir_of in self.targets

    def partition_epoch(self, topic_id: TopicId, partition: int) -> int:
        """Return the epoch of the member that owns a partition, or NO_EPOCH if none does."""
        return self.owners(topic_id).get(partition, NO_EPOCH)

    def owners(self, topic_id: TopicId) -> Mapping[int, int]:
        """Return the epochs of the owners of a topic's partitions, without those that have no owner."""
        return self.partition_epochs.get(topic_id, _NOBODY)

    # --- replay

    def put_regex(self, regex: str, value: ConsumerGroupRegularExpressionValue | None) -> None:
        """Set or remove the topics that match a regular expression."""
        old = self.regexes.get(regex)
        before, after = set(() if old is None else old.topics), set(() if value is None else value.topics)
        self._count_topics(before - after, by_regex=-1)
        self._count_topics(after - before, by_regex=1)
        if value is not None:
            self.regexes[regex] = value
        elif old is not None:
            del self.regexes[regex]

    def fill(
        self, head: Mapping[type[Message], Any], members: Sequence[ConsumerGroupMember], targets: Mapping[str, Message]
    ) -> None:
        """Make of this group, which nobody has seen, one with all of these records: the values of single ones and of targets.

        The same as record by record, in the order of the members. No two of these own a partition.
        """
        self.head.fill(head.items())
        self.members.fill((member.member_id, member) for member in members)
        self.most_members = len(members)
        read = self.records.target_form.read
        self.targets.fill((member_id, TargetAssignment(read, value)) for member_id, value in targets.items())
        metadata = [member.metadata for member in members]
        topics: Counter[str] = Counter()
        for names, count in Counter([tuple(value.subscribed_topic_names) for value in metadata]).items():
            topics.update(dict.fromkeys(names, count))
        self.subscribed_topics.fill((topic, SubscriptionCount(count)) for topic, count in topics.items())
        self._services.by_topic.follow(topics, self.group_id)
        self.regex_members.fill(Counter([each for value in metadata if (each := value.subscribed_topic_regex)]).items())
        self.server_assignors.fill(Counter([each for value in metadata if (each := value.server_assignor) is not None]).items())
        self.static_members.fill((each, member.member_id) for member in members if (each := member.instance_id) is not None)
        self.stable_members.fill(Counter([epoch for member in members if (epoch := member.stable_epoch) is not None]).items())
        classic = [own for value in metadata if (own := value.classic_member_metadata) is not None]
        self.classic_members.set(len(classic))
        self.classic_protocols.fill(Counter([each.name for own in classic for each in own.supported_protocols]).items())
        self._count_bytes(sum(map(self.records.bytes_of, metadata)))
        owners: dict[TopicId, dict[int, int]] = {}
        for member in members:
            for partitions in (member.assigned, member.pending_revocation):
                for topic_id, numbers in partitions.items():
                    owners.setdefault(topic_id, {}).update(dict.fromkeys(numbers, member.member_epoch))
        self.partition_epochs.fill(owners.items())

    def forget(self) -> None:
        """Take out what others know of this group, whose last record is gone. What it was stays in it, for who looks back."""
        self._services.by_topic.unfollow(self.subscribed_topics, self.group_id)
        self._services.member_bytes.set(self._services.member_bytes.value - self.member_bytes.value)

    def _metadata_put(self, old: ConsumerGroupMember | None, member: ConsumerGroupMember) -> None:
        self._count_metadata(NO_METADATA if old is None else old.metadata, member.metadata)
        self._put_instance(old, member)

    def _current_put(self, old: ConsumerGroupMember | None, member: ConsumerGroupMember) -> None:
        if old is not None and (old.assigned or old.pending_revocation):
            self._release(old.assigned, old.member_epoch)
            self._release(old.pending_revocation, old.member_epoch)
        self._own(member.assigned, member.member_epoch)
        self._own(member.pending_revocation, member.member_epoch)

    def _put_instance(self, old: ConsumerGroupMember | None, member: ConsumerGroupMember) -> None:
        before = None if old is None else old.instance_id
        if before is not None and before != member.instance_id and self.static_members.get(before) == member.member_id:
            del self.static_members[before]
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id

    def _count_metadata(self, old: ConsumerGroupMemberMetadataValue, new: ConsumerGroupMemberMetadataValue) -> None:
        before, after = set(old.subscribed_topic_names), set(new.subscribed_topic_names)
        self._count_topics(before - after, by_name=-1)
        self._count_topics(after - before, by_name=1)
        recount(self.regex_members, _one(old.subscribed_topic_regex or None), _one(new.subscribed_topic_regex or None))
        recount(self.server_assignors, _one(old.server_assignor), _one(new.server_assignor))
        were, are = old.classic_member_metadata, new.classic_member_metadata
        if were is not None or are is not None:
            self.classic_members.set(self.classic_members.value + (are is not None) - (were is not None))
            recount(
                self.classic_protocols,
                [] if were is None else [protocol.name for protocol in were.supported_protocols],
                [] if are is None else [protocol.name for protocol in are.supported_protocols],
            )

    def _count_topics(self, topics: Iterable[str], by_name: int = 0, by_regex: int = 0) -> None:
        changed: dict[str, SubscriptionCount] = {}
        followed: list[str] = []
        left: list[str] = []
        # Most topics of a group have the same count.
        after: dict[SubscriptionCount, SubscriptionCount] = {}
        for topic in topics:
            old = self.subscribed_topics.get(topic, NO_COUNT)
            new = after.get(old)
            if new is None:
                new = after[old] = SubscriptionCount(old.by_name + by_name, old.by_regex + by_regex)
            if new == NO_COUNT:
                left.append(topic)
            else:
                changed[topic] = new
                if old is NO_COUNT:
                    followed.append(topic)
        self.subscribed_topics.put_all(changed)
        self.subscribed_topics.remove_all(left)
        self._services.by_topic.follow(followed, self.group_id)
        self._services.by_topic.unfollow(left, self.group_id)

    def _release(self, partitions: Epochs, member_epoch: int) -> None:
        free: list[TopicId] = []
        for topic_id, numbers in partitions.items():
            epochs = self.partition_epochs.get(topic_id)
            if epochs is None:
                continue
            if len(epochs) == len(numbers) and epochs == dict.fromkeys(numbers, member_epoch):
                # Nobody else has a partition of the topic. What it was stays in the container, for who looks back.
                free.append(topic_id)
                continue
            # A partition with a different epoch has a new owner, whose record came first in a compacted log.
            released = [partition for partition in numbers if epochs.get(partition) == member_epoch]
            if released:
                left = self._changeable(topic_id, epochs)
                left.remove_all(released)
                if not left:
                    free.append(topic_id)
        self.partition_epochs.remove_all(free)

    def _own(self, partitions: Epochs, member_epoch: int) -> None:
        first: dict[TopicId, Mapping[int, int]] = {}
        for topic_id, numbers in partitions.items():
            epochs = self.partition_epochs.get(topic_id)
            if epochs is None:
                if numbers:
                    first[topic_id] = dict.fromkeys(numbers, member_epoch)
                continue
            # Two owners are never in a sound log; in a damaged one the newer epoch counts.
            newer = {each: member_epoch for each in numbers if epochs.get(each, member_epoch) <= member_epoch}
            self._changeable(topic_id, epochs).put_all(newer)
        self.partition_epochs.put_all(first)

    def _changeable(self, topic_id: TopicId, epochs: Mapping[int, int]) -> TimelineDict[int, int]:
        """Return the epochs of a topic's owners as a container that may change."""
        if isinstance(epochs, TimelineDict):
            return epochs
        container: TimelineDict[int, int] = TimelineDict(self._services.registry)
        container.fill(epochs.items())
        self.partition_epochs[topic_id] = container
        return container


def consumer_groups(registry: SnapshotRegistry) -> GroupTable[ConsumerGroup]:
    """Return an empty table. A group consumes the topics that its members name, or that their expressions match."""
    others: dict[type[Message], Put] = {
        ConsumerGroupPartitionMetadataKey: put_head,
        ConsumerGroupRegularExpressionKey: _put_regex,
    }
    return GroupTable(registry, ConsumerGroup, others)


def _put_regex(group: ConsumerGroup, key: ConsumerGroupRegularExpressionKey, value: Any) -> None:
    group.put_regex(key.regular_expression, value)


def _one(key: K | None) -> list[K]:
    return [] if key is None else [key]
