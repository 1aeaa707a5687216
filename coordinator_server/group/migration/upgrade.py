"""A classic group with members becomes a consumer group, when the first member of the consumer protocol joins it (KIP-848).

Its members stay, and go on in the classic protocol. Their subscriptions and assignments are read from the bytes that they sent and
got. The generation becomes the epoch of the group, of its target assignment and of all members; the target is what they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, NoReturn

from coordinator_server.config import Config
from coordinator_server.config_values import migration_policy
from coordinator_server.group.assign.order import order_copied_partitions, order_partitions, order_timeline, order_topic_ids
from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.records import group_tombstone
from coordinator_server.group.common.names import sorted_names
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.groups import ConsumerGroups
from coordinator_server.group.consumer.member import ConsumerGroupMember, MemberState, current_assignment
from coordinator_server.group.consumer.records import (
    assignment_epoch_record,
    current_assignment_record,
    epoch_record,
    member_record,
    target_record,
)
from coordinator_server.group.migration.embedded import (
    PROTOCOL_TYPE,
    Unreadable,
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

HashOf = Callable[[Iterable[str]], int]
"""Returns the metadata hash of topics by name."""


class Upgrade(NamedTuple):
    """The records of a conversion, and the group that they make: outside of the state, for the rest of the operation."""

    records: list[CoordinatorRecord]
    group: ConsumerGroup


class _Member(NamedTuple):
    member: ConsumerGroupMember
    target: Partitions


def refuse_upgrade(config: Config, group: ClassicGroup) -> None:
    """Refuse to convert a group with members if it may not become a consumer group, or cannot. Raises CoordinatorError."""
    if not migration_policy(config).upgrade:
        reason = "online upgrade is disabled"
    elif group.protocol_type != PROTOCOL_TYPE:
        reason = "the group does not use the consumer embedded protocol"
    elif len(group.members) > config.group_consumer_max_size:
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
    if least > config.message_max_bytes:
        reason = "its records would be larger than message.max.bytes"
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR, f"Cannot upgrade classic group {group.group_id}: {reason}.")


def upgrade(classic: ClassicGroup, topics: TopicImage, hash_of: HashOf) -> Upgrade:
    """Return the conversion of a group with members. Raises CoordinatorError."""
    group_id, epoch = classic.group_id, classic.generation_id
    members = {member_id: _member(classic, classic.members[member_id], topics) for member_id in hash_map_order(classic.members)}
    _refuse_two_owners(members.values())
    metadata_hash = hash_of({name for each in members.values() for name in each.member.metadata.subscribed_topic_names})
    of_group = [epoch_record(group_id, epoch, metadata_hash), assignment_epoch_record(group_id, epoch, 0)]
    subscriptions = {member_id: member_record(group_id, each.member) for member_id, each in members.items()}
    targets = {member_id: target_record(group_id, member_id, each.target) for member_id, each in members.items()}
    currents = {member_id: current_assignment_record(group_id, each.member) for member_id, each in members.items()}
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
    return Upgrade(records, _group_of(group_id, [*of_group, *subscriptions.values(), *targets.values(), *currents.values()]))


def _member(classic: ClassicGroup, member: ClassicGroupMember, topics: TopicImage) -> _Member:
    """Return a member as a consumer group has it."""
    target = _assignment(classic, member, topics)
    metadata = next((each.metadata for each in member.protocols if each.name == classic.protocol_name), None)
    if metadata is None:
        # The group has no generation yet, or the member has joined again with other protocols. Kafka does not expect it.
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    try:
        subscription = read_subscription(metadata)
    except Unreadable as unreadable:
        _refuse_unreadable(classic, unreadable)
    epoch = classic.generation_id
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
    assigned = {topic_id: dict.fromkeys(order_partitions(partitions), epoch) for topic_id, partitions in target.items()}
    current = current_assignment(epoch, epoch, MemberState.STABLE, assigned, {})
    return _Member(ConsumerGroupMember(member.member_id, value).with_current(current), target)


def _assignment(classic: ClassicGroup, member: ClassicGroupMember, topics: TopicImage) -> Partitions:
    """Return what a member has: what it got in its last SyncGroup, or in the consumer group that the group was before.

    Topics that do not exist any more are left out.
    """
    held = member.assignment if member.held is None else member.held
    if not held:
        return {}
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
    for named in assignment.assigned_partitions:
        topic = topics.topic(named.topic)
        if topic is not None:
            # Of a topic that is named twice, the last entry counts.
            found[topic.topic_id] = order_copied_partitions(named.partitions)
    return {topic_id: found[topic_id] for topic_id in order_topic_ids(found)}


def _refuse_two_owners(members: Iterable[_Member]) -> None:
    """Refuse a group whose leader has given a partition to two members: a partition has one owner. Kafka does not expect it."""
    owned: set[tuple[bytes, int]] = set()
    for each in members:
        own = {(topic_id, partition) for topic_id, partitions in each.target.items() for partition in partitions}
        if not owned.isdisjoint(own):
            raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
        owned |= own


def _group_of(group_id: str, records: Iterable[CoordinatorRecord]) -> ConsumerGroup:
    groups = ConsumerGroups(SnapshotRegistry())
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
