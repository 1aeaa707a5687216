"""The epoch of a group, and whether the topics that it consumes are still those of the epoch: by Kafka's metadata hash.

The hash is in the record of the group's epoch. It is computed again when the topic image says that a topic has changed, and once
after a load, and once after the heartbeat that creates the group, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.group_table import GroupTable
from protocol.coordinator_records import CoordinatorRecord


def is_compared(group: ModernGroup[Any, Any]) -> bool:
    """Return whether the group's hash is known to be that of the present topics. A lower epoch is one whose record failed."""
    epoch = group.compared_epoch
    return epoch is not None and epoch <= group.group_epoch


def next_epoch(
    context: ModernContext[Any], group: ModernGroup[Any, Any], topics: Iterable[str], *, is_due: bool
) -> tuple[int, list[CoordinatorRecord]]:
    """Return the epoch of a group that consumes these topics, and its record if it is new.

    ``is_due``: it is new in any case, otherwise only if a topic has changed.
    """
    metadata_hash = context.hashes.of_group(topics)
    epoch, records = group.group_epoch, []
    if is_due or metadata_hash != group.metadata_hash:
        epoch += 1
        records.append(context.records.epoch(group.group_id, epoch, metadata_hash))
    group.compared_epoch = epoch
    return epoch, records


def topics_changed(groups: GroupTable[Any], names: Collection[str]) -> None:
    """Have the groups of these topics compared again, at their next heartbeats."""
    for name in names if groups.by_id else ():
        for group_id in groups.subscribed_to(name):
            groups.by_id[group_id].compared_epoch = None
