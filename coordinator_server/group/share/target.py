"""The target assignment of a share group: computed at the first heartbeat that finds its epoch behind the group's."""

from __future__ import annotations

from functools import partial

from coordinator_server.group.assign.altered import read_target
from coordinator_server.group.assign.assignors import SHARE_ASSIGNORS, SIMPLE
from coordinator_server.group.assign.order import order_sharing_members
from coordinator_server.group.assign.spec import GroupSpec, Member, Partitions
from coordinator_server.group.assign.subscriptions import Subscriptions
from coordinator_server.group.assign.target import change_targets
from coordinator_server.group.modern.background_target import TargetRules
from coordinator_server.group.modern.target import Target, changed_targets, describe, is_due
from coordinator_server.group.modern.target_task import TargetRequest
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.group import ShareGroup, is_homogeneous
from coordinator_server.group.share.member import ShareGroupMember
from coordinator_server.group.share.records import RECORDS
from coordinator_server.group.share.target_task import COMPUTE_TARGETS
from protocol.coordinator_records import CoordinatorRecord


def update_target(
    share: ShareContext, group: ShareGroup, group_epoch: int, member: ShareGroupMember, is_alike: bool | None
) -> tuple[Target[Partitions], list[CoordinatorRecord]]:
    """Return the target of the changed member, and the records if it is new. ``is_alike``: all subscribe to the same topics.

    ``group_epoch`` is the group's epoch with this request. Raises UNKNOWN_SERVER_ERROR if the assignor fails, and if the target
    is too large to be written.
    """
    if group.assignment_epoch >= group_epoch or not is_due(share, group):
        return _last_target(group, member), []
    if is_alike is None:
        # A member that subscribes to nothing joins without a new epoch. Kafka does not count it here.
        is_alike = is_homogeneous(group.subscribed_topics, len(group.members) + (member.member_id not in group.members))
    size = partial(_assignment_size, share, group, is_alike, member)
    if share.background.take(group, group_epoch, size, lambda: member.member_id in group.targets):
        return _last_target(group, member), []
    spec = group_spec(share, group, is_alike, member)
    assign, record = partial(change_targets, SHARE_ASSIGNORS[SIMPLE], spec), partial(RECORDS.target, group.group_id)
    changed, records = changed_targets(assign, group_epoch, record)
    records.append(RECORDS.target_epoch(group.group_id, group_epoch, share.clock.wall_ms()))
    mine = changed.get(member.member_id)
    return Target(group_epoch, _last_target(group, member).assigned if mine is None else mine), records


def group_spec(share: ShareContext, group: ShareGroup, is_alike: bool, updated: ShareGroupMember) -> GroupSpec:
    """Return the group with the member that a request changes, as the assignor sees it."""
    updated_id = updated.member_id
    subscriptions = Subscriptions(share.topics.topic)
    members: list[Member] = []
    for member_id in order_sharing_members(list(group.members), updated_id, group.most_members):
        member = updated if member_id == updated_id else group.members[member_id]
        place = subscriptions.place(member.metadata.subscribed_topic_names)
        members.append(Member(member_id, None, place, group.target(member_id), member_id in group.targets))
    assignable = group.state_topics.value.initialized_partitions()
    return GroupSpec(members, subscriptions.found, is_alike, subscriptions.partition_counts, assignable)


def target_rules(share: ShareContext) -> TargetRules[ShareGroup]:
    """Return what share groups add to targets that a child process computes."""
    inline_max_size = share.config.share.group_share_assignment_inline_max_size
    return TargetRules(COMPUTE_TARGETS, inline_max_size, partial(_described, share))


def _described(share: ShareContext, group: ShareGroup) -> TargetRequest:
    is_alike = is_homogeneous(group.subscribed_topics, len(group.members))
    members = ((None, member.metadata.subscribed_topic_names, ()) for member in group.members.values())
    assignable = group.state_topics.value.initialized_partitions()
    return describe(group, SIMPLE, share.topics, members, is_alike=is_alike, assignable=assignable)


def _last_target(group: ShareGroup, member: ShareGroupMember) -> Target[Partitions]:
    """Return the present target."""
    return Target(group.assignment_epoch, read_target(group.target(member.member_id)))


def _assignment_size(share: ShareContext, group: ShareGroup, is_alike: bool, updated: ShareGroupMember) -> int:
    """Return what the time of an assignment is proportional to: members and partitions, and subscriptions if they differ."""
    counts = group.subscribed_topics
    topics = [share.topics.topic(name) for name in {*counts, *updated.metadata.subscribed_topic_names}]
    size = len(group.members) + sum([topic.partitions for topic in topics if topic is not None])
    return size if is_alike else size + sum(counts.values())
