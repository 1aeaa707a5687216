"""A classic group with members becomes a consumer group, when the first member of the consumer protocol joins it (KIP-848).

Its members stay, and go on in the classic protocol. Their subscriptions and assignments are read from the bytes that they sent and
got. The generation becomes the epoch of the group, of its target assignment and of all members; the target is what they were given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple, NoReturn

from coordinator_server.catalog.topics import Topic
from coordinator_server.config import Config
from coordinator_server.config.values import migration_policy
from coordinator_server.group.assign.order import order_copied_partitions, order_partitions, order_timeline, order_topic_ids
from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.records import group_tombstone
from coordinator_server.group.common.names import sorted_names
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.consumer.group import ConsumerGroup, consumer_groups
from coordinator_server.group.consumer.member import ConsumerGroupMember, MemberState, current_assignment
from coordinator_server.group.consumer.records import RECORDS
from coordinator_server.group.migration.embedded import (
    COOPERATIVE,
    Unreadable,
    partitions_by_id,
    read_assignment,
    read_subscription,
    refuse,
)
from coordinator_server.group.registry import Groups, encoded
from coordinator_server.machine.block import EncodedRecord, EncodedRecords, RecordBlock
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import hash_map_order, text_hash
from coordinator_server.machine.timeline import SnapshotRegistry
from protocol.coordinator_records import GROUP_SERDE
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.consumer_group_records import ClassicMemberMetadata, ClassicProtocol, ConsumerGroupMemberMetadataValue
from protocol.messages.consumer_protocol import CONSUMER, ConsumerProtocolSubscription
from protocol.messages.group_records import GroupMetadataKey
from protocol.messages.join_group import JoinGroupRequestProtocol

_Position = tuple[bytes, int]


class Upgrade(NamedTuple):
    """The records of a conversion, and the group that they make: outside of the state, for the rest of the operation."""

    records: RecordBlock
    group: ConsumerGroup
    is_due: bool
    """Whether the group needs a new target: a member has more than its target, or a partition has no owner."""


class _Member(NamedTuple):
    member_id: str
    metadata: ConsumerGroupMemberMetadataValue
    target: Partitions
    claims: Partitions
    """What the member said it owned when it joined last, if the group does not know what it has; and partitions that it was given
    and that are not known here (yet)."""
    generation_id: int
    """The generation in which it got that."""


def refuse_upgrade(config: Config, group: ClassicGroup) -> None:
    """Refuse to convert a group with members if it may not become a consumer group, or cannot. Raises CoordinatorError."""
    if not migration_policy(config).upgrade:
        reason = "online upgrade is disabled"
    elif group.protocol_type != CONSUMER:
        reason = "the group does not use the consumer embedded protocol"
    elif len(group.members) > config.consumer.group_consumer_max_size:
        reason = "the group size exceeds the consumer group maximum size"
    else:
        _refuse_too_large(config, group)
        return
    raise _cannot(group, reason)


def _refuse_too_large(config: Config, group: ClassicGroup) -> None:
    """Refuse a group whose records are certain not to fit into a batch, before they are made: that takes long for a large group."""
    least = sum(
        len(member.assignment) + sum([len(protocol.metadata) for protocol in member.protocols])
        for member in group.members.values()
    )
    if least > config.log.message_max_bytes:
        reason = "its records would be larger than message.max.bytes"
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR, f"Cannot upgrade classic group {group.group_id}: {reason}.")


class _Prepared(NamedTuple):
    """A member with what it was given, and the records of its subscription, its target and its assignment."""

    of: ClassicGroupMember
    protocols: Sequence[JoinGroupRequestProtocol]
    assignment: bytes
    held: bytes | None
    protocol_name: str | None
    epoch: int
    topics_version: int
    member: _Member
    has: ConsumerGroupMember
    target: Message
    records: tuple[EncodedRecord, EncodedRecord, EncodedRecord]


class PreparedMembers:
    """The members of a classic group as a consumer group has them: as far as they are prepared, and have not changed since."""

    def __init__(self, groups: Groups, classic: ClassicGroup) -> None:
        self.classic = classic
        self._topics = groups.consumer_context.topics
        self._read = cache(read_subscription)
        self._known: dict[str, _Prepared] = {}

    def prepare(self, member_ids: Iterable[str]) -> None:
        """Prepare these members, if they are there still. A member that cannot be converted is left to the conversion."""
        for member_id in member_ids:
            member = self.classic.members.get(member_id)
            if member is not None:
                text_hash(member_id)
                try:
                    self.of(member)
                except CoordinatorError:
                    return

    def of(self, member: ClassicGroupMember) -> _Prepared:
        """Return a member. Raises CoordinatorError."""
        classic, version, known = self.classic, self._topics.version, self._known.get(member.member_id)
        if (
            known is not None
            and known.of is member
            and known.protocols is member.protocols
            and known.assignment is member.assignment
            and known.held is member.held
            and (known.protocol_name, known.epoch, known.topics_version)
            == (classic.protocol_name, classic.generation_id, version)
        ):
            return known
        group_id, epoch = classic.group_id, classic.generation_id
        found = _member(classic, member, self._topics, self._read)
        has, target = _with_assignment(found, {}, epoch), RECORDS.target(group_id, found.member_id, found.target)
        assert target.value is not None
        records = encoded(RECORDS.member(group_id, has)), encoded(target), encoded(RECORDS.current(group_id, has))
        made_of = member, member.protocols, member.assignment, member.held, classic.protocol_name, epoch, version
        known = self._known[member.member_id] = _Prepared(*made_of, found, has, target.value, records)
        return known


def upgrade(groups: Groups, classic: ClassicGroup, prepared: PreparedMembers | None = None) -> Upgrade:
    """Return the conversion of a group with members, some of which may be prepared. Raises CoordinatorError."""
    topics, group_id, epoch = groups.consumer_context.topics, classic.group_id, classic.generation_id
    if prepared is None or prepared.classic is not classic:
        prepared = PreparedMembers(groups, classic)
    found = {member_id: prepared.of(classic.members[member_id]) for member_id in hash_map_order(classic.members)}
    owned = _all_targets([each.member for each in found.values()])
    claims = _free_claims([each.member for each in found.values()], owned)
    for member_id, more in claims.items():
        each = found[member_id]
        has = _with_assignment(each.member, more, epoch)
        found[member_id] = each._replace(has=has, records=(*each.records[:2], encoded(RECORDS.current(group_id, has))))
    subscribed = {
        name for names in {tuple(each.has.metadata.subscribed_topic_names) for each in found.values()} for name in names
    }
    metadata_hash = groups.consumer_context.hashes.of_group(subscribed)
    head = [RECORDS.epoch(group_id, epoch, metadata_hash), RECORDS.target_epoch(group_id, epoch, 0)]
    tombstone = group_tombstone(group_id)
    # In the log, members have the order of Kafka's table; the group that the operation works with has that of their entry.
    order = [found[member_id] for member_id in order_timeline(list(found))]
    records = [
        encoded(tombstone),
        *(each.records[0] for each in order),
        encoded(head[0]),
        *(each.records[1] for each in order),
        encoded(head[1]),
        *(each.records[2] for each in order),
    ]

    def fill(group: ConsumerGroup, members: Iterable[_Prepared]) -> ConsumerGroup:
        chosen = list(members)
        targets = {each.has.member_id: each.target for each in chosen}
        group.fill({type(each.key): each.value for each in head}, [each.has for each in chosen], targets)
        return group

    def keep(offset: int) -> None:
        groups.replays[GroupMetadataKey](offset, tombstone.key, None)
        groups.put_consumer_group(offset + len(records), fill(groups.consumer.absent(group_id), order))

    group = fill(consumer_groups(SnapshotRegistry()).absent(group_id), found.values())
    # The hash is that of the present topics, so that nothing else would tell that the leader had divided fewer partitions.
    is_due = bool(claims) or not _has_all(owned, filter(None, map(topics.topic, subscribed)))
    return Upgrade(EncodedRecords(records, GROUP_SERDE.decode, keep), group, is_due)


def _member(
    classic: ClassicGroup, member: ClassicGroupMember, topics: TopicImage, read: Callable[[bytes], ConsumerProtocolSubscription]
) -> _Member:
    """Return a member as a consumer group has it, and what it has. ``read`` is ``read_subscription``: many have the same."""
    target, unknown = _assignment(classic, member, topics)
    metadata = next((each.metadata for each in member.protocols if each.name == classic.protocol_name), None)
    if metadata is None:
        # The group has no generation yet, or the member has joined again with other protocols. Kafka does not expect it.
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    try:
        subscription = read(metadata)
    except Unreadable as unreadable:
        _refuse_unreadable(classic, unreadable)
    supported = [ClassicProtocol(each.name, each.metadata) for each in member.protocols]
    value = ConsumerGroupMemberMetadataValue(
        member.group_instance_id,
        subscription.rack_id,
        member.client_id,
        member.client_host,
        sorted_names(subscription.topics),
        "",
        member.rebalance_timeout_ms,
        None,
        ClassicMemberMetadata(member.session_timeout_ms, supported),
    )
    # Members of other protocols have given everything up before they join.
    has_claims = classic.protocol_name == COOPERATIVE and member.held is None
    claims = partitions_by_id(topics, subscription.owned_partitions) if has_claims else {}
    for topic_id, partitions in unknown.items():
        claims[topic_id] = [*claims.get(topic_id, ()), *partitions]
    return _Member(member.member_id, value, target, claims, subscription.generation_id)


def _with_assignment(member: _Member, claims: Partitions, epoch: int) -> ConsumerGroupMember:
    has = {**member.target, **{topic_id: [*member.target.get(topic_id, ()), *more] for topic_id, more in claims.items()}}
    assigned = {topic_id: dict.fromkeys(order_partitions(partitions), epoch) for topic_id, partitions in has.items()}
    current = current_assignment(epoch, epoch, MemberState.STABLE, assigned, {})
    return ConsumerGroupMember(member.member_id, member.metadata).with_current(current)


def _assignment(classic: ClassicGroup, member: ClassicGroupMember, topics: TopicImage) -> tuple[Partitions, Partitions]:
    """Return what a member has: what it got in its last SyncGroup, or in the consumer group that the group was before.

    Topics that do not exist any more are left out. Partitions that do not exist here come second: an assignor cannot handle them.
    """
    held = member.assignment if member.held is None else member.held
    if not held:
        return {}, {}
    try:
        assignment = read_assignment(held)
    except Unreadable as unreadable:
        _refuse_unreadable(classic, unreadable)
    if assignment.user_data:
        raise _cannot(
            classic,
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor before "
            "re-attempting the upgrade",
        )
    found: Partitions = {}
    unknown: Partitions = {}
    for named in assignment.assigned_partitions:
        topic = topics.topic(named.topic)
        if topic is not None:
            # Of a topic that is named twice, the last entry counts.
            existing = [partition for partition in named.partitions if 0 <= partition < topic.partitions]
            found[topic.topic_id] = order_copied_partitions(existing)
            if len(existing) < len(named.partitions):
                unknown[topic.topic_id] = sorted(set(named.partitions).difference(existing))
    return {topic_id: found[topic_id] for topic_id in order_topic_ids(found)}, unknown


def _all_targets(members: Iterable[_Member]) -> set[_Position]:
    """Return the partitions of all members. Raises CoordinatorError if the leader has given one to two of them.

    A partition has one owner. Kafka does not expect it.
    """
    owned: set[_Position] = set()
    for each in members:
        own = _positions(each.target)
        if not owned.isdisjoint(own):
            raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
        owned |= own
    return owned


def _free_claims(members: Iterable[_Member], owned: set[_Position]) -> dict[str, Partitions]:
    """Return what members have besides their targets, by member id.

    A cooperative member goes on owning what it had until it has been answered, and joins again when it had to give something up.
    And the assignments of all members are empty when the leader's sync came too late (Kafka does not check what they own). If
    two claim a partition, it belongs to the one that got something later.
    """
    found: dict[str, Partitions] = {}
    taken = set(owned)
    for each in sorted(members, key=lambda each: -each.generation_id):
        for topic_id, partitions in each.claims.items():
            free = [partition for partition in partitions if (topic_id, partition) not in taken]
            if free:
                found.setdefault(each.member_id, {})[topic_id] = free
                taken.update((topic_id, partition) for partition in free)
    return found


def _has_all(owned: set[_Position], topics: Iterable[Topic]) -> bool:
    """Return whether every partition of the topics has an owner."""
    return all((topic.topic_id, partition) in owned for topic in topics for partition in range(topic.partitions))


def _positions(partitions: Partitions) -> set[_Position]:
    return {(topic_id, partition) for topic_id, numbers in partitions.items() for partition in numbers}


def _refuse_unreadable(classic: ClassicGroup, unreadable: Unreadable) -> NoReturn:
    message = (
        f"Cannot upgrade classic group {classic.group_id} to consumer group because the embedded consumer protocol is malformed."
    )
    refuse(unreadable, ErrorCode.GROUP_ID_NOT_FOUND, message)


def _cannot(classic: ClassicGroup, reason: str) -> CoordinatorError:
    return CoordinatorError(
        ErrorCode.GROUP_ID_NOT_FOUND, f"Cannot upgrade classic group {classic.group_id} to consumer group because {reason}."
    )
