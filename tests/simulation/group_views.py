"""What must be true of a group in the server's state, in its log, and when it is settled."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from coordinator_server.group.classic.state import STABLE
from coordinator_server.group.consumer.records import RECORDS
from coordinator_server.group.shard import GroupShard
from coordinator_server.group.why import Why
from protocol.messages.consumer_group_records import ConsumerGroupMetadataKey
from protocol.messages.group_records import GroupMetadataKey
from tests.simulation.epochs_log import Epochs, check_author, check_epoch, rises
from tests.simulation.group_member import GroupMember
from tests.simulation.mirror import LogRecord
from tests.simulation.native_member import NativeMember
from tests.simulation.ownership import Position

_CONVERSIONS = frozenset((Why.GROUP_UPGRADED, Why.GROUP_DOWNGRADED))


class MemberView(Struct):
    """A member of a consumer group. ``has`` is what nobody else may have."""

    epoch: int
    is_reconciled: bool
    has: set[Position] = set()


class GroupView(Struct):
    """A group. ``is_consumer``: of the consumer protocol."""

    is_consumer: bool = False
    epoch: int = 0
    assignment_epoch: int = 0
    is_stable: bool = True
    members: dict[str, MemberView] = {}


def view_of(shard: GroupShard, _offset: int, group_id: str) -> GroupView:
    """Return the state of a group, also as far as it is not durable yet."""
    group = shard.groups.consumer.by_id.get(group_id)
    if group is not None:
        members = {
            member_id: MemberView(
                member.member_epoch,
                member.is_reconciled_to(group.group_epoch),
                {
                    (topic_id, partition)
                    for each in (member.assigned, member.pending_revocation)
                    for topic_id, epochs in each.items()
                    for partition in epochs
                },
            )
            for member_id, member in group.members.items()
        }
        return GroupView(True, group.group_epoch, group.assignment_epoch, True, members)
    classic = shard.groups.classic.living(group_id)
    if classic is None:
        return GroupView()
    found = {member_id: MemberView(classic.generation_id, True) for member_id in classic.members}
    return GroupView(False, classic.generation_id, classic.generation_id, classic.state is STABLE, found)


def check_state(group_id: str, view: GroupView) -> Iterator[str]:
    """At any moment: one owner per partition, and epochs in order."""
    owners = Counter(position for member in view.members.values() for position in member.has)
    if owners and max(owners.values()) > 1:
        yield f"partitions of {group_id} have several owners in the state: {view}"
    if view.assignment_epoch > view.epoch:
        yield f"the assignment of {group_id} is newer than the group: {view}"
    if any(member.epoch > view.assignment_epoch for member in view.members.values()):
        yield f"a member of {group_id} is newer than its assignment: {view}"


def unsettled(view: GroupView, members: list[GroupMember], topics: Mapping[str, tuple[bytes, int]], policy: str) -> Iterator[str]:
    """Yield what is not as it has to be when nothing has happened for a while."""
    admitted = [each for each in members if not (each.is_refused and _may_be_refused(each, view, policy))]
    known, living = set(view.members), {each.member_id for each in admitted}
    if known != living or len(living) != len(admitted):
        yield f"strangers {sorted(known - living)}, missing {sorted(living - known)}"
    if not known and not admitted:
        return
    if view.epoch != view.assignment_epoch or not view.is_stable:
        yield f"the group is in epoch {view.epoch}, its assignment in {view.assignment_epoch}"
    behind = [name for name, each in view.members.items() if each.epoch != view.epoch or not each.is_reconciled]
    if behind:
        yield f"not reconciled: {behind}"
    waiting = [each.name for each in admitted if not each.is_settled or each.epoch != view.epoch]
    if waiting:
        yield f"not settled: {waiting}"
    owners = Counter(position for each in admitted for position in each.life.owned)
    wanted = {
        (topics[name][0], number)
        for each in admitted
        for name in topics
        if _is_subscribed(each, name)
        for number in range(topics[name][1])
    }
    # A group that a static member turned into a classic one just goes on, as in Kafka: nobody in it leads, or looks at topics.
    due = wanted if view.is_consumer or any(each.is_leader for each in admitted) else wanted & set(owners)
    if set(owners) != due or any(count > 1 for count in owners.values()):
        yield f"owned are {sorted(owners.items())}, wanted {sorted(wanted)}"


def check_log(written: Iterable[LogRecord]) -> Iterator[str]:
    """Epochs rise as long as a group lives, also when it changes its protocol, and members that are gone change nothing."""
    groups: dict[str, int] = {}
    epochs: Epochs = {}
    # The epochs before the present operation, if it removes a group and writes it anew in the other protocol. Others that do so
    # have found it empty, and begin anew.
    before: dict[str, int] = {}
    for each in written:
        key: Any = each.record.key
        value: Any = each.record.value
        if each.provenance is not None:
            is_conversion = any(reason.why in _CONVERSIONS for reason in each.provenance.reasons)
            before = dict(groups) if is_conversion else {}
        yield from check_author(each)
        match key:
            case ConsumerGroupMetadataKey() | GroupMetadataKey():
                is_consumer = isinstance(key, ConsumerGroupMetadataKey)
                group_id = key.group_id if isinstance(key, ConsumerGroupMetadataKey) else key.group
                if value is None:
                    groups.pop(group_id, None)
                else:
                    has_members = is_consumer or bool(value.members)
                    groups.setdefault(group_id, before.get(group_id, 0) if has_members else 0)
                    yield from rises(groups, group_id, value.epoch if is_consumer else value.generation, each)
                    if not has_members:
                        # A group of the other protocol that takes its place begins anew.
                        groups.pop(group_id)
            case _:
                yield from check_epoch(each, RECORDS, epochs)


def _may_be_refused(member: GroupMember, view: GroupView, policy: str) -> bool:
    """Return whether the migration policy keeps a member out of a group of the other protocol."""
    if isinstance(member, NativeMember):
        return not view.is_consumer and policy in ("downgrade", "disabled")
    return view.is_consumer and policy == "disabled"


def _is_subscribed(member: GroupMember, topic: str) -> bool:
    regex = member.subscription.regex
    if topic in member.subscription.names:
        return True
    return isinstance(member, NativeMember) and bool(regex) and re.fullmatch(regex, topic) is not None
