"""The target assignment of a group: computed at the first heartbeat that finds its epoch behind the group's (KIP-848, KIP-1263)."""

from __future__ import annotations

from functools import partial

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.assign.target import change_targets
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember, MemberChange
from coordinator_server.group.consumer.records import RECORDS
from coordinator_server.group.consumer.subscriptions import count_after, is_homogeneous
from coordinator_server.group.consumer.target_spec import assignment_size, group_spec, preferred_assignor
from coordinator_server.group.consumer.target_task import COMPUTE_TARGETS
from coordinator_server.group.modern.background_target import TargetRules
from coordinator_server.group.modern.target import Target, changed_targets, describe, is_due
from coordinator_server.group.modern.target_task import TargetRequest
from protocol.coordinator_records import CoordinatorRecord


def update_target(
    consumer: ConsumerContext, group: ConsumerGroup, group_epoch: int, change: MemberChange, is_alike: bool | None
) -> tuple[Target[Partitions], list[CoordinatorRecord]]:
    """Return the target of the changed member, and the records if it is new. ``is_alike``: all subscribe to the same topics.

    ``group_epoch`` is the group's epoch with this request. Raises UNKNOWN_SERVER_ERROR if the assignor fails, and if the target
    is too large to be written.
    """
    if group.assignment_epoch >= group_epoch or not is_due(consumer, group):
        return last_target(group, change.after), []
    if is_alike is None:
        # A member that subscribes to nothing joins without a new epoch. Kafka does not count it here.
        is_alike = is_homogeneous(group.regex_members, group.subscribed_topics, count_after(group, change.after))
    size = partial(assignment_size, consumer, group, is_alike, change.after)
    if consumer.background.take(group, group_epoch, size, partial(group.has_target, change.after)):
        return last_target(group, change.after), []
    spec = group_spec(consumer, group, is_alike, change.after)
    assignor = consumer.assignors[preferred_assignor(consumer, group, change)]
    assign, record = partial(change_targets, assignor, spec), partial(RECORDS.target, group.group_id)
    changed, records = changed_targets(assign, group_epoch, record)
    records.append(RECORDS.target_epoch(group.group_id, group_epoch, consumer.clock.wall_ms()))
    member_id = change.after.member_id
    mine = changed.get(member_id)
    if mine is None:
        mine = next(member.target for member in spec.members if member.member_id == member_id)
    return Target(group_epoch, mine), records


def target_rules(consumer: ConsumerContext) -> TargetRules[ConsumerGroup]:
    """Return what consumer groups add to targets that a child process computes."""
    inline_max_size = consumer.config.consumer.group_consumer_assignment_inline_max_size
    return TargetRules(COMPUTE_TARGETS, inline_max_size, partial(_described, consumer))


def _described(consumer: ConsumerContext, group: ConsumerGroup) -> TargetRequest:
    is_alike = is_homogeneous(group.regex_members, group.subscribed_topics, len(group.members))
    matched: dict[str | None, list[str]] = {regex: resolved.topics for regex, resolved in group.regexes.items()}
    members = (
        (value.instance_id, value.subscribed_topic_names, matched.get(value.subscribed_topic_regex, ()))
        for value in [member.metadata for member in group.members.values()]
    )
    return describe(group, preferred_assignor(consumer, group), consumer.topics, members, is_alike=is_alike)


def last_target(group: ConsumerGroup, member: ConsumerGroupMember) -> Target[Partitions]:
    """Return the present target. A static member that replaces a previous one gets the target of that."""
    instance_id = member.instance_id
    member_id = member.member_id if instance_id is None else group.static_members.get(instance_id)
    return Target(group.assignment_epoch, {} if member_id is None else group.target(member_id))
