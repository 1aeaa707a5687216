"""Which shard of a log owns a key: a group's id, a transactional id."""

from __future__ import annotations

from coordinator_server.log.store import Meta
from coordinator_server.runtime.partitioner import partition_for


def owner_of(identity: Meta, topic: str, key: str) -> str:
    """Return the name of the shard of an internal topic that owns a key in the log of this identity."""
    return f"{topic}-{partition_for(key, identity.partition_count(topic))}"
