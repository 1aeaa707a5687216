"""The group's epoch: it rises when a subscription changes, and when the topics that the group consumes do (KIP-848)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import MemberChange
from coordinator_server.group.consumer.subscriptions import count_after, is_homogeneous, regexes_after, topics_after
from coordinator_server.group.modern.epoch import is_compared, next_epoch
from coordinator_server.group.modern.records import tombstone
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.consumer_group_records import ConsumerGroupPartitionMetadataKey


class EpochUpdate(NamedTuple):
    """The group's epoch with a request, and its records. ``is_alike``: all members subscribe to the same topics; None as before."""

    epoch: int
    is_alike: bool | None
    records: Sequence[CoordinatorRecord]


def update_epoch(
    consumer: ConsumerContext, group: ConsumerGroup, change: MemberChange, has_new_subscription: bool
) -> EpochUpdate:
    """Return the group's epoch after a member's change: a new one if its subscription is new, or a topic has changed."""
    if not has_new_subscription and is_compared(group):
        return EpochUpdate(group.group_epoch, None, ())
    old, new = change.before.metadata, change.after.metadata
    topics = topics_after(group, old, new)
    epoch, records = next_epoch(consumer, group, topics, is_due=has_new_subscription)
    if group.has_partition_metadata:
        # The metadata hash has replaced this record.
        records.append(tombstone(ConsumerGroupPartitionMetadataKey(group.group_id)))
    is_alike = is_homogeneous(regexes_after(group, old, new), topics, count_after(group, change.after))
    return EpochUpdate(epoch, is_alike, records)
