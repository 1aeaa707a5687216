"""Whether the topics that a group consumes are still those of its epoch: by their hash (Kafka's metadata hash).

The hash is in the record of the group's epoch. It is computed again when the topic image says that a topic has changed, and once
after a load, and once after the heartbeat that creates the group, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from coordinator_server.group.modern.group_table import GroupTable


class ComparedGroup(Protocol):
    """A group with a metadata hash. ``compared_epoch`` is the epoch whose hash was compared with the present topics, or None."""

    compared_epoch: int | None

    @property
    def group_epoch(self) -> int: ...


def is_compared(group: ComparedGroup) -> bool:
    """Return whether the group's hash is known to be that of the present topics. A lower epoch is one whose record failed."""
    epoch = group.compared_epoch
    return epoch is not None and epoch <= group.group_epoch


def topics_changed(groups: GroupTable[Any], names: Collection[str]) -> None:
    """Have the groups of these topics compared again, at their next heartbeats."""
    for name in names:
        for group_id in groups.subscribed_to(name):
            groups.by_id[group_id].compared_epoch = None
