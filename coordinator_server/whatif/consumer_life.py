"""Generations from the records of a consumer group (KIP-848): each target assignment is one.

The records are replayed into the coordinator's own state of the group. Before the first record of a target is, that state is what
the assignor has got; the order of the members depends on how the group was before the operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from coordinator_server.catalog.topics import Topic
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.group.assign.assignors import ASSIGNORS
from coordinator_server.group.assign.order import order_members
from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.consumer.subscriptions import is_homogeneous, matched_names
from coordinator_server.group.consumer.target_spec import preferred_assignor
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.provenance import Provenance, Reason
from coordinator_server.whatif.life import Generation, LifeMember, Protocol, Seat
from coordinator_server.whatif.records import MemberRecord
from coordinator_server.whatif.topics import TopicHistory
from protocol.coordinator_records import CoordinatorRecord
from protocol.fields import uuid_text
from protocol.messages.consumer_group_records import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)

_DEFAULT: Final = next(iter(ASSIGNORS))
SERVER_SIDE: Final = "server-"
"""What the name of an assignor begins with here, where one of the clients has the same name."""


class _Before:
    """The group before the operation whose records come."""

    def __init__(self, group: ConsumerGroup | None) -> None:
        self.members = [] if group is None else list(group.members)
        self.most = 0 if group is None else group.most_members
        self.instances = {} if group is None else dict(group.static_members)
        self.targets: dict[str, Partitions] | None = None
        self.updated: str | None = None


class ConsumerLife:
    """Collects the target assignments of one group. ``shard`` replays it: it may be that of other groups, too."""

    def __init__(self, group_id: str, topics: TopicHistory, shard: GroupShard) -> None:
        self.generations: list[Generation] = []
        self.static: dict[str, Seat] = {}
        self._id = group_id
        self._topics = topics
        self._shard = shard
        # The time and the provenance of the operation whose records come; None before one begins.
        self._operation: tuple[int, Provenance | None] | None = None
        self._before = _Before(None)
        # Why the epochs since the last target are, and since when.
        self._reasons: tuple[Reason, ...] = ()

    @property
    def _group(self) -> ConsumerGroup | None:
        return self._shard.groups.consumer.by_id.get(self._id)

    def add(self, record: MemberRecord) -> None:
        """Take the group's next record of the newer protocol."""
        last = self._operation
        if last is None or last[0] != record.at_ms or last[1] is not record.provenance:
            self._operation, self._before = (record.at_ms, record.provenance), _Before(self._group)
        before, key, group = self._before, record.key, self._group
        if isinstance(key, ConsumerGroupTargetAssignmentMemberKey) and before.targets is None and group is not None:
            before.targets = {member_id: group.target(member_id) for member_id in group.targets}
        self._shard.replay(record.offset, CoordinatorRecord(key, record.value))
        if isinstance(key, ConsumerGroupMemberMetadataKey) and isinstance(record.value, ConsumerGroupMemberMetadataValue):
            before.updated = key.member_id
            if record.value.instance_id is not None:
                self.static[key.member_id] = record.value.instance_id
        elif isinstance(key, ConsumerGroupMetadataKey) and record.provenance is not None:
            self._reasons += record.provenance.reasons
        elif isinstance(record.value, ConsumerGroupTargetAssignmentMetadataValue):
            self._end(record, record.value.assignment_epoch)
            self._operation = None

    def _end(self, record: MemberRecord, epoch: int) -> None:
        """Note a target assignment: its last record has come."""
        group, before = self._group, self._before
        assert group is not None, record
        targets = before.targets
        if targets is None:
            targets = {member_id: group.target(member_id) for member_id in group.targets}
        members = {member_id: _member(group, member) for member_id, member in group.members.items()}
        replaced = _replaced(before, members)
        seats = {member_id: member.seat for member_id, member in members.items()}
        order = [each for each in order_members(before.members, before.updated, replaced, before.most) if each in seats]
        heirs = {member_id: replaced if replaced and member_id == before.updated else member_id for member_id in seats}
        found = self._topics_of(members.values(), record.at_ms, group)
        self.generations.append(
            Generation(
                number=epoch,
                offset=record.offset,
                at_ms=record.at_ms,
                protocol=Protocol.CONSUMER,
                assignor=_assignor(self._shard.groups.consumer_context, group) if members else "",
                members={member.seat: member for member in members.values()},
                order=tuple(seats[each] for each in order),
                assigned={seats[each]: self._listed(group.target(each)) for each in seats},
                is_alike=is_homogeneous(group.regex_members, group.subscribed_topics, len(group.members)),
                topics=found,
                reasons=self._reasons,
                before={seats[each]: self._listed(targets.get(heir, {})) for each, heir in heirs.items()},
                fresh=frozenset(seats[each] for each in seats if each not in targets),
            )
        )
        self._reasons = ()

    def _listed(self, target: Partitions) -> tuple[TopicPartition, ...]:
        named = ((self._topics.name(topic_id) or uuid_text(topic_id), numbers) for topic_id, numbers in target.items())
        return tuple(TopicPartition(name, number) for name, numbers in named for number in numbers)

    def _topics_of(self, members: Iterable[LifeMember], at_ms: int, group: ConsumerGroup) -> dict[str, Topic]:
        """Return the topics as the coordinator knew them: it gives each partition to somebody."""
        counts: dict[str, int] = {}
        for member_id in group.targets:
            for topic_id, numbers in group.target(member_id).items():
                name = self._topics.name(topic_id)
                if name is not None and numbers:
                    counts[name] = max(counts.get(name, 0), *(number + 1 for number in numbers))
        found = {}
        for name in {topic for member in members for topic in member.wanted}:
            topic = self._topics.at(name, at_ms)
            if topic is not None and counts.get(name):
                found[name] = Topic(name, topic.topic_id, counts[name])
        return found


def _member(group: ConsumerGroup, member: ConsumerGroupMember) -> LifeMember:
    metadata = member.metadata
    classic = metadata.classic_member_metadata
    return LifeMember(
        member.member_id,
        metadata.client_id,
        metadata.client_host.removeprefix("/"),
        metadata.instance_id,
        tuple(metadata.subscribed_topic_names),
        tuple(matched_names(group, member)),
        None if classic is None else classic.session_timeout_ms,
    )


def _replaced(before: _Before, members: Mapping[str, LifeMember]) -> str | None:
    """Return the member id of the static member that the changed member has taken the place of."""
    updated = members.get(before.updated or "")
    if updated is None or updated.instance_id is None:
        return None
    owner = before.instances.get(updated.instance_id)
    return None if owner == updated.member_id else owner


def _assignor(context: ConsumerContext, group: ConsumerGroup) -> str:
    """Return the assignor that most members ask for, or the default."""
    name = preferred_assignor(context, group)
    return name if name == _DEFAULT else SERVER_SIDE + name
