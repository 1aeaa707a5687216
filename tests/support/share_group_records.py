"""The records of share groups (KIP-932) as bytes of key and value, for logs that tests write by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from protocol.messages import share_group_records as share
from tests.support.consumer_records import ORDERS, Assigned, Pair, pair

Named = Mapping[bytes, tuple[str, Sequence[int]]]
"""Topic name and partitions by topic id."""


def share_epoch(group_id: str, epoch: int | None) -> Pair:
    value = None if epoch is None else share.ShareGroupMetadataValue(epoch, 7)
    return pair(share.ShareGroupMetadataKey(group_id), value)


def share_target_epoch(group_id: str, epoch: int | None) -> Pair:
    value = None if epoch is None else share.ShareGroupTargetAssignmentMetadataValue(epoch, 5)
    return pair(share.ShareGroupTargetAssignmentMetadataKey(group_id), value)


def share_member(group_id: str, member_id: str, topics: Sequence[str] | None = ("orders",)) -> Pair:
    value = None
    if topics is not None:
        value = share.ShareGroupMemberMetadataValue("rack-1", f"client of {member_id}", "/10.0.0.7", list(topics))
    return pair(share.ShareGroupMemberMetadataKey(group_id, member_id), value)


def share_target(group_id: str, member_id: str, assigned: Assigned | None) -> Pair:
    value = None
    if assigned is not None:
        value = share.ShareGroupTargetAssignmentMemberValue(
            [share.TopicPartition(each, list(of)) for each, of in assigned.items()]
        )
    return pair(share.ShareGroupTargetAssignmentMemberKey(group_id, member_id), value)


def share_current(group_id: str, member_id: str, epoch: int, assigned: Assigned) -> Pair:
    topics = [share.TopicPartitions(each, list(of)) for each, of in assigned.items()]
    value = share.ShareGroupCurrentMemberAssignmentValue(epoch, epoch - 1, 0, topics)
    return pair(share.ShareGroupCurrentMemberAssignmentKey(group_id, member_id), value)


def share_gone(group_id: str, member_id: str) -> list[Pair]:
    return [
        pair(share.ShareGroupCurrentMemberAssignmentKey(group_id, member_id), None),
        share_target(group_id, member_id, None),
        share_member(group_id, member_id, None),
    ]


def share_partitions(group_id: str, initializing: Named, initialized: Named, deleting: Mapping[bytes, str]) -> Pair:
    begun, done = (
        [share.TopicPartitionsInfo(topic_id, name, list(numbers)) for topic_id, (name, numbers) in each.items()]
        for each in (initializing, initialized)
    )
    gone = [share.TopicInfo(topic_id, name) for topic_id, name in deleting.items()]
    value = share.ShareGroupStatePartitionMetadataValue(begun, done, gone)
    return pair(share.ShareGroupStatePartitionMetadataKey(group_id), value)


def shared_work(group_id: str) -> list[list[Pair]]:
    """Member a joins and gets both partitions, b takes one of them as well, a goes; a topic is initialized and later deleted."""
    both, one = {ORDERS: (0, 1)}, {ORDERS: (1,)}
    info: Named = {ORDERS: ("orders", (0, 1))}
    return [
        [share_member(group_id, "a"), share_epoch(group_id, 1)],
        [share_target(group_id, "a", both), share_target_epoch(group_id, 1), share_current(group_id, "a", 1, both)],
        [share_partitions(group_id, info, {}, {})],
        [share_partitions(group_id, {}, info, {})],
        [
            share_member(group_id, "b"),
            share_epoch(group_id, 2),
            share_target(group_id, "a", both),
            share_target(group_id, "b", one),
            share_target_epoch(group_id, 2),
            share_current(group_id, "b", 2, one),
        ],
        [share_current(group_id, "a", 2, both)],
        [*share_gone(group_id, "a"), share_epoch(group_id, 3)],
        [share_target_epoch(group_id, 3), share_current(group_id, "b", 3, one)],
        [share_partitions(group_id, {}, {}, {ORDERS: "orders"})],
    ]
