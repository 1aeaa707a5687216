"""A consumer group becomes a classic group again, when the last member of the consumer protocol leaves it (KIP-848).

Only members of the classic protocol are left then. Their assignments are those of the target, in the version of their own bytes.
The epoch of the group becomes the generation, and the protocol that most of them prefer becomes that of the group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from coordinator_server.config import Config
from coordinator_server.config.values import migration_policy
from coordinator_server.group.assign.order import order_timeline
from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.records import group_metadata_record
from coordinator_server.group.classic.state import STABLE
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.consumer.records import RECORDS
from coordinator_server.group.migration.embedded import Unreadable, read_version, refuse, write_assignment
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_protocol import CONSUMER
from protocol.messages.join_group import JoinGroupRequestProtocol


class Downgrade(NamedTuple):
    """The records of a conversion, and the group that they make, with what only its members' requests have said.

    They are all tombstones of the consumer group, and then the record of the classic one.
    """

    records: list[CoordinatorRecord]
    group: ClassicGroup
    before: Sequence[CoordinatorRecord] = ()
    """Records that change the consumer group first."""


def may_downgrade_without(config: Config, group: ConsumerGroup, leaving: Collection[ConsumerGroupMember]) -> bool:
    """Return whether a group becomes a classic one when these members leave."""
    left = len(group.members) - len(leaving)
    native = sum(member.classic_member_metadata is None for member in leaving)
    has_only_classic = len(group.members) - group.classic_members.value == native
    return has_only_classic and left > 0 and _is_allowed(config, left)


def may_downgrade_replacing(config: Config, group: ConsumerGroup, replaced: ConsumerGroupMember) -> bool:
    """Return whether a group becomes a classic one when a classic member takes the place of a static one."""
    is_last = replaced.classic_member_metadata is None and group.classic_members.value == len(group.members) - 1
    return is_last and _is_allowed(config, len(group.members))


def _is_allowed(config: Config, members: int) -> bool:
    return migration_policy(config).downgrade and members <= config.live.group_max_size


def downgrade(
    group: ConsumerGroup,
    leaving: Collection[ConsumerGroupMember],
    joining: ConsumerGroupMember | None,
    topics: TopicImage,
    wall_ms: int,
) -> Downgrade:
    """Return the conversion of a group without ``leaving``. ``joining`` takes the place of the static member of its instance id.

    The records of that replacement come first. Raises GROUP_ID_NOT_FOUND if a member's bytes cannot be read.
    """
    order = order_timeline(list(group.members))
    replaced = None if joining is None else group.static_member(joining.instance_id)
    gone = {member.member_id for member in leaving}
    classic = ClassicGroup(group.group_id, STABLE, wall_ms)
    classic.generation_id = group.group_epoch
    targets = {member.member_id: group.target(member.member_id) for member in _staying(group, order, gone, replaced)}
    members = [group.members[member_id] for member_id in targets]
    if joining is not None:
        assert replaced is not None
        members.append(joining)
        targets[joining.member_id] = group.target(replaced.member_id)
    for member in members:
        classic.add(_member(classic, member))
    classic.protocol_name = classic.select_protocol()
    classic.learn_subscription()
    # Most members subscribe to the same.
    versions: dict[bytes, int] = {}
    for member in members:
        each = classic.members[member.member_id]
        subscription = each.metadata(classic.protocol_name)
        version = versions.get(subscription)
        if version is None:
            version = versions[subscription] = _version(classic.group_id, subscription)
        target, owned = targets[member.member_id], _owned(member)
        each.assignment = each.held = write_assignment(target, topics, version)
        if list(owned.items()) != list(target.items()):
            # Members that have not reached their targets have other partitions, until they join again.
            each.held = write_assignment(owned, topics, version)
    renamed = [joining.member_id if joining and replaced and each == replaced.member_id else each for each in order]
    # A damaged log may have targets without members.
    targets_of = [*renamed, *(each for each in group.targets if each not in group.members)]
    records = RECORDS.group_tombstones(group.group_id, renamed, targets_of, group.other_keys())
    assignments = {each.member_id: each.assignment for each in classic.members.values()}
    return Downgrade([*records, group_metadata_record(classic, assignments)], classic)


def _staying(
    group: ConsumerGroup, order: list[str], gone: Collection[str], replaced: ConsumerGroupMember | None
) -> Iterator[ConsumerGroupMember]:
    for member_id in order:
        if member_id not in gone and (replaced is None or member_id != replaced.member_id):
            yield group.members[member_id]


def _member(classic: ClassicGroup, member: ConsumerGroupMember) -> ClassicGroupMember:
    metadata, own = member.metadata, member.classic_member_metadata
    assert own is not None
    found = ClassicGroupMember(member.member_id, metadata.instance_id, metadata.client_id, metadata.client_host)
    found.session_key = classic.session_key(member.member_id)
    found.rebalance_timeout_ms = metadata.rebalance_timeout_ms
    found.session_timeout_ms = own.session_timeout_ms
    found.protocol_type = CONSUMER
    found.protocols = [JoinGroupRequestProtocol(each.name, each.metadata) for each in own.supported_protocols]
    return found


def _version(group_id: str, subscription: bytes) -> int:
    try:
        return read_version(subscription)
    except Unreadable as unreadable:
        refuse(unreadable, ErrorCode.GROUP_ID_NOT_FOUND, f"Cannot downgrade the classic group {group_id}.")


def _owned(member: ConsumerGroupMember) -> Partitions:
    """Return what a member has: what it was assigned, and what it has not given up yet."""
    owned = {topic_id: list(epochs) for topic_id, epochs in member.assigned.items()}
    for topic_id, epochs in member.pending_revocation.items():
        owned.setdefault(topic_id, []).extend(epochs)
    return owned
