"""The epoch of a group, and whether the topics that it consumes are still those of the epoch: by Kafka's metadata hash.

The hash is in the record of the group's epoch. It is computed again when the topic image says that a topic has changed, and once
after a load, and once after the heartbeat that creates the group, as in Kafka.

A former owner of the shard may have known newer topics than this loop does. A target that is computed without them would take their
partitions away. So until this loop has all that existed at the load, a group whose hash differs waits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.group_table import GroupTable
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode


def is_compared(group: ModernGroup[Any, Any]) -> bool:
    """Return whether the group's hash is known to be that of the present topics. A lower epoch is one whose record failed."""
    epoch = group.compared_epoch
    return epoch is not None and epoch <= group.group_epoch


def has_its_topics(context: ModernContext[Any], group: ModernGroup[Any, Any]) -> bool:
    """Return whether the topics here are those that the group's records were made from, or later ones."""
    return context.has_topics or is_compared(group) or context.hashes.of_group(group.consumed_topics) == group.metadata_hash


def require_topics(context: ModernContext[Any], group: ModernGroup[Any, Any]) -> None:
    """Raise COORDINATOR_LOAD_IN_PROGRESS if the topics that the group consumes may be older here than in its records."""
    if not has_its_topics(context, group):
        raise topics_unknown()


def topics_unknown() -> CoordinatorError:
    """Return the refusal of a request that needs to know the topics of a group."""
    return CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the topics of the group are not known here at the moment")


def next_epoch(
    context: ModernContext[Any], group: ModernGroup[Any, Any], topics: Iterable[str], *, is_due: bool
) -> tuple[int, list[CoordinatorRecord]]:
    """Return the epoch of a group that consumes these topics, and its record if it is new.

    ``is_due``: it is new in any case, otherwise only if a topic has changed. While topics may be older here than in the group's
    records, a new epoch, which members that leave need, keeps the hash that says so.
    """
    is_known = has_its_topics(context, group)
    metadata_hash = context.hashes.of_group(topics) if is_known else group.metadata_hash
    epoch, records = group.group_epoch, []
    if is_due or metadata_hash != group.metadata_hash:
        epoch += 1
        records.append(context.records.epoch(group.group_id, epoch, metadata_hash))
    group.compared_epoch = epoch if is_known else None
    return epoch, records


def topics_changed(groups: GroupTable[Any], names: Collection[str]) -> None:
    """Have the groups of these topics compared again, at their next heartbeats."""
    for name in names if groups.by_id else ():
        for group_id in groups.subscribed_to(name):
            groups.by_id[group_id].compared_epoch = None
