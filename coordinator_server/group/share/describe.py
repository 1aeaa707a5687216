"""ShareGroupDescribe: a share group as of the committed offset (``ShareGroup.asDescribedGroup``), and its state.

Members may have very many partitions, so a description is made member by member, from values that do not change any longer.
"""

from __future__ import annotations

from functools import partial

from coordinator_server.group.assign.assignors import SIMPLE
from coordinator_server.group.assign.order import order_names
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.modern.describe import UndescribedGroup
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.member import ShareGroupMember
from protocol.messages.share_group_describe import Assignment, DescribedGroup, Member, TopicPartitions


def group_at(group: ShareGroup, committed_offset: int, topics: TopicImage) -> UndescribedGroup:
    """Return the description of a group."""
    epoch, assignment_epoch = group.epochs_at(committed_offset)
    head = DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_at(committed_offset),
        group_epoch=epoch,
        assignment_epoch=assignment_epoch,
        assignor_name=SIMPLE,
    )
    members = [member for _, member in group.members.items_at(committed_offset)]
    return UndescribedGroup(head, members, partial(_described, topics))


def _described(topics: TopicImage, member: ShareGroupMember) -> Member:
    metadata = member.metadata
    found = []
    for topic_id, partitions in member.assigned.items():
        topic = topics.topic_by_id(topic_id)
        if topic is not None:
            found.append(TopicPartitions(topic_id, topic.name, list(partitions)))
    return Member(
        member.member_id,
        metadata.rack_id,
        member.member_epoch,
        metadata.client_id,
        metadata.client_host,
        order_names(metadata.subscribed_topic_names),
        Assignment(found),
    )
