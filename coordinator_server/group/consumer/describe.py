"""ConsumerGroupDescribe: a consumer group as of the committed offset (``ConsumerGroup.asDescribedGroup``)."""

from __future__ import annotations

from collections.abc import Mapping

from coordinator_server.group.assign.order import buckets_for, order_timeline, spread_topic_id
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.consumer.group import NO_TARGET, ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember, TopicId
from coordinator_server.group.consumer.state import assignment_epoch_at, group_epoch_at, group_state
from protocol.messages.consumer_group_describe import Assignment, DescribedGroup, Member, TopicPartitions

CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1


def describe_group(group: ConsumerGroup, committed_offset: int, topics: TopicImage, default_assignor: str) -> DescribedGroup:
    """Return the description. Partitions of topics that do not exist any longer are left out."""
    members = [_described(group, member, committed_offset, topics) for _, member in group.members.items_at(committed_offset)]
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group_state(group, committed_offset).value,
        group_epoch=group_epoch_at(group, committed_offset),
        assignment_epoch=assignment_epoch_at(group, committed_offset),
        assignor_name=_preferred_assignor(group, committed_offset) or default_assignor,
        members=members,
    )


def _described(group: ConsumerGroup, member: ConsumerGroupMember, committed_offset: int, topics: TopicImage) -> Member:
    metadata = member.metadata
    # A member may use what it is asked to revoke until it says that it has.
    owned: dict[TopicId, list[int]] = {}
    for partitions in (member.assigned, member.pending_revocation):
        for topic_id, epochs in partitions.items():
            owned.setdefault(topic_id, []).extend(sorted(epochs))
    target = group.targets.get_at(member.member_id, committed_offset) or NO_TARGET
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
        _assignment({topic_id: sorted(partitions) for topic_id, partitions in target.partitions.items()}, topics),
        CONSUMER_MEMBER if metadata.classic_member_metadata is None else CLASSIC_MEMBER,
    )


def _assignment(owned: Mapping[TopicId, list[int]], topics: TopicImage) -> Assignment:
    """Return the partitions of the topics that exist, in the order of a HashMap."""
    mask = buckets_for(len(owned)) - 1
    found = []
    for topic_id in sorted(owned, key=lambda each: spread_topic_id(each) & mask):
        topic = topics.topic_by_id(topic_id)
        if topic is not None:
            found.append(TopicPartitions(topic_id, topic.name, owned[topic_id]))
    return Assignment(found)


def _preferred_assignor(group: ConsumerGroup, committed_offset: int) -> str | None:
    """Return the assignor that most members ask for; None if no member asks for one."""
    counts = dict(group.server_assignors.items_at(committed_offset))
    return max(order_timeline(list(counts), len(counts)), key=lambda name: counts[name], default=None)
