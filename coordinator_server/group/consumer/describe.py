"""ConsumerGroupDescribe: a consumer group as of the committed offset (``ConsumerGroup.asDescribedGroup``).

Members may have very many partitions, so a description is made member by member, from values that do not change any longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from coordinator_server.group.assign.order import buckets_for, by_bucket, order_timeline
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember, TopicId
from coordinator_server.group.modern.describe import UndescribedGroup
from coordinator_server.group.modern.target_assignment import TargetAssignment
from protocol.messages.consumer_group_describe import Assignment, DescribedGroup, Member, TopicPartitions

CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1


def group_at(group: ConsumerGroup, committed_offset: int, topics: TopicImage, default_assignor: str) -> UndescribedGroup:
    """Return the description of a group."""
    members = [
        (member, group.targets.get_at(member_id, committed_offset))
        for member_id, member in group.members.items_at(committed_offset)
    ]
    epoch, assignment_epoch = group.epochs_at(committed_offset)
    head = DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_at(committed_offset),
        group_epoch=epoch,
        assignment_epoch=assignment_epoch,
        assignor_name=_preferred_assignor(group, committed_offset) or default_assignor,
    )
    return UndescribedGroup(head, members, partial(_described, topics))


def _described(topics: TopicImage, having: tuple[ConsumerGroupMember, TargetAssignment[Any] | None]) -> Member:
    """Return the description of a member, which comes with its target."""
    member, target = having
    metadata = member.metadata
    wanted = {} if target is None else target.target
    # A member may use what it is asked to revoke until it says that it has.
    owned: dict[TopicId, list[int]] = {}
    for partitions in (member.assigned, member.pending_revocation):
        for topic_id, epochs in partitions.items():
            owned.setdefault(topic_id, []).extend(sorted(epochs))
    return Member(
        member.member_id,
        metadata.instance_id,
        metadata.rack_id,
        member.member_epoch,
        metadata.client_id,
        metadata.client_host,
        list(metadata.subscribed_topic_names),
        metadata.subscribed_topic_regex,
        _assignment(owned, topics),
        _assignment({topic_id: sorted(partitions) for topic_id, partitions in wanted.items()}, topics),
        CONSUMER_MEMBER if metadata.classic_member_metadata is None else CLASSIC_MEMBER,
    )


def _assignment(owned: Mapping[TopicId, list[int]], topics: TopicImage) -> Assignment:
    """Return the partitions of the topics that exist, in the order of a HashMap."""
    found = []
    for topic_id in by_bucket(owned, buckets_for(len(owned))):
        topic = topics.topic_by_id(topic_id)
        if topic is not None:
            found.append(TopicPartitions(topic_id, topic.name, owned[topic_id]))
    return Assignment(found)


def _preferred_assignor(group: ConsumerGroup, committed_offset: int) -> str | None:
    """Return the assignor that most members request; None if no member requests one."""
    counts = dict(group.server_assignors.items_at(committed_offset))
    return max(order_timeline(list(counts), len(counts)), key=lambda name: counts[name], default=None)
