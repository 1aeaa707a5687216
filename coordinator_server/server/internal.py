"""The topics that are this server's own log: clients see them, and may read them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from coordinator_server.catalog.topics import Topic
from coordinator_server.kinds import GROUPS


class InternalTopics:
    """By name and by id. The ids follow from the cluster's, so that all loops, and all starts, say the same."""

    def __init__(self, cluster_id: str, partitions: int) -> None:
        topics = [Topic(GROUPS.topic, _topic_id(cluster_id, GROUPS.topic), partitions)]
        self._by_name = {topic.name: topic for topic in topics}
        self._by_id = {topic.topic_id: topic for topic in topics}

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._by_name.values())

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def named(self, name: str) -> Topic | None:
        """The topic of this name."""
        return self._by_name.get(name)

    def of_id(self, topic_id: bytes) -> Topic | None:
        """The topic of this id."""
        return self._by_id.get(topic_id)


def _topic_id(cluster_id: str, name: str) -> bytes:
    """A UUID of version 8: made from something, and not by chance."""
    raw = bytearray(hashlib.sha256(f"{cluster_id}/{name}".encode()).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    return bytes(raw)
