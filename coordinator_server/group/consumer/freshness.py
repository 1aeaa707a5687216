"""Whether the topics that a group consumes are still those of its epoch: by their hash (Kafka's metadata hash).

The hash is in the record of the group's epoch. It is computed again when the topic image says that a topic has changed, and once
after a load, and once after the heartbeat that creates the group, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup


def hash_of(consumer: ConsumerContext, names: Iterable[str]) -> int:
    """Return the hash of those of these topics that exist."""
    return consumer.hashes.of_group(names)


def is_compared(group: ConsumerGroup) -> bool:
    """Return whether the group's hash is known to be that of the present topics. A lower epoch is one whose record failed."""
    epoch = group.compared_epoch
    return epoch is not None and epoch <= group.group_epoch


def topics_changed(consumer: ConsumerContext, names: Collection[str]) -> None:
    """Have the groups of these topics compared again, at their next heartbeats."""
    for name in names:
        for group_id in consumer.groups.subscribed_to(name):
            consumer.groups.by_id[group_id].compared_epoch = None
