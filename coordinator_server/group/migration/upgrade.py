"""A classic group with members becomes a consumer group, when the first member of the consumer protocol joins it (KIP-848).

Its members stay, and go on in the classic protocol. Their subscriptions and assignments are read from the bytes that they sent and
got. The generation becomes the epoch of the group, of its target assignment and of all members; the target is what they were given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import hash_map_order
from coordinator_server.machine.timeline import SnapshotRegistry
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_records import ClassicMemberMetadata, ClassicProtocol, ConsumerGroupMemberMetadataValue
from protocol.messages.consumer_protocol import CONSUMER

_Position = tuple[bytes, int]
HashOf = Callable[[Iterable[str]], int]
"""Returns the metadata hash of topics by name."""


class Upgrade(NamedTuple):
    """The records of a conversion, and the group that they make: outside of the state, for the rest of the operation."""

    records: list[CoordinatorRecord]
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


def upgrade(classic: ClassicGroup, topics: TopicImage, hash_of: HashOf) -> Upgrade:
    """Return the conversion of a group with members. Raises CoordinatorError."""
    group_id, epoch = classic.group_id, classic.generation_id
    found = [_member(classic, classic.members[member_id], topics) for member_id in hash_map_order(classic.members)]
    owned = _all_targets(found)
    claims = _free_claims(found, owned)
    members = {each.member_id: _with_assignment(each, claims.get(each.member_id, {}), epoch) for each in found}
    subscribed = {name for each in found for name in each.metadata.subscribed_topic_names}
    metadata_hash = hash_of(subscribed)
    of_group = [RECORDS.epoch(group_id, epoch, metadata_hash), RECORDS.target_epoch(group_id, epoch, 0)]
    subscriptions = {member_id: RECORDS.member(group_id, member) for member_id, member in members.items()}
    targets = {each.member_id: RECORDS.target(group_id, each.member_id, each.target) for each in found}
    currents = {member_id: RECORDS.current(group_id, member) for member_id, member in members.items()}
    # In the log, members have the order of Kafka's table; the group that the operation works with has that of their entry.
    order = order_timeline(list(members))
    records = [
        group_tombstone(group_id),
        *(subscriptions[member_id] for member_id in order),
        of_group[0],
        *(targets[member_id] for member_id in order),
        of_group[1],
        *(currents[member_id] for member_id in order),
    ]
    group = _group_of(group_id, [*of_group, *subscriptions.values(), *targets.values(), *currents.values()])
    # The hash is that of the present topics, so that nothing else would tell that the leader had divided fewer partitions.
    return Upgrade(records, group, bool(claims) or not _has_all(owned, filter(None, map(topics.topic, subscribed))))


def _member(classic: ClassicGroup, member: ClassicGroupMember, topics: TopicImage) -> _Member:
    """Return a member as a consumer group has it, and what it has."""
    target, unknown = _assignment(classic, member, topics)
    metadata = next((each.metadata for each in member.protocols if each.name == classic.protocol_name), None)
    if metadata is None:
        # The group has no generation yet, or the member has joined again with other protocols. Kafka does not expect it.
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    try:
        subscription = read_subscription(metadata)
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
            unknown[topic.topic_id] = sorted(set(named.partitions).difference(existing))
    return {topic_id: found[topic_id] for topic_id in order_topic_ids(found)}, {
        key: more for key, more in unknown.items() if more
    }


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


def _group_of(group_id: str, records: Iterable[CoordinatorRecord]) -> ConsumerGroup:
    groups = consumer_groups(SnapshotRegistry())
    replay = groups.replay
    for record in records:
        replay[type(record.key)](0, record.key, record.value)
    return groups.by_id[group_id]


def _refuse_unreadable(classic: ClassicGroup, unreadable: Unreadable) -> NoReturn:
    message = (
        f"Cannot upgrade classic group {classic.group_id} to consumer group because the embedded consumer protocol is malformed."
    )
    refuse(unreadable, ErrorCode.GROUP_ID_NOT_FOUND, message)


def _cannot(classic: ClassicGroup, reason: str) -> CoordinatorError:
    return CoordinatorError(
        ErrorCode.GROUP_ID_NOT_FOUND, f"Cannot upgrade classic group {classic.group_id} to consumer group because {reason}."
    )
