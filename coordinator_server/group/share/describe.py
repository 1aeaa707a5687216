"""ShareGroupDescribe: a share group as of the committed offset (``ShareGroup.asDescribedGroup``), and its state.

Members may have very many partitions, so a description is made member by member, from values that do not change any longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from coordinator_server.group.assign.assignors import SIMPLE
from coordinator_server.group.assign.order import order_names
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.modern.described import work_of
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.member import ShareGroupMember
from protocol.messages.share_group_describe import Assignment, DescribedGroup, Member, TopicPartitions


class ShareGroupState(Enum):
    """The state, as ListGroups names it."""

    EMPTY = "Empty"
    STABLE = "Stable"


class UndescribedShareGroup(NamedTuple):
    """A group as of an offset: its description without members, and the members."""

    head: DescribedGroup
    members: list[ShareGroupMember]
    topics: TopicImage

    def described_members(self) -> Iterator[tuple[Member, int]]:
        """Yield the description of each member, and the units of its work. Partitions of topics that are gone are left out."""
        for member in self.members:
            described = _described(member, self.topics)
            yield described, work_of(topic.partitions for topic in described.assignment.topic_partitions)


def group_state(group: ShareGroup, committed_offset: int) -> ShareGroupState:
    """Return the state as of ``committed_offset``: a group with members is always stable."""
    return ShareGroupState.STABLE if group.members_at(committed_offset) else ShareGroupState.EMPTY


def group_at(group: ShareGroup, committed_offset: int, topics: TopicImage) -> UndescribedShareGroup:
    """Return what there is to describe."""
    epoch, assignment_epoch = group.epochs_at(committed_offset)
    head = DescribedGroup(
        group_id=group.group_id,
        group_state=group_state(group, committed_offset).value,
        group_epoch=epoch,
        assignment_epoch=assignment_epoch,
        assignor_name=SIMPLE,
    )
    return UndescribedShareGroup(head, [member for _, member in group.members.items_at(committed_offset)], topics)


def _described(member: ShareGroupMember, topics: TopicImage) -> Member:
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
