"""The internal topics: this server's own log, which clients can see and read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from coordinator_server.catalog.topics import Topic
from coordinator_server.kinds import KINDS


class InternalTopics:
    """The topics of the served kinds, by FindCoordinator key type. The permanent topics can also be found by name and id.

    The other topics exist when the catalog lists them. Topic ids are derived from the cluster id, so they are the same in all
    loops and after each restart.
    """

    def __init__(self, cluster_id: str, partitions: Mapping[str, int]) -> None:
        self._by_key_type: dict[int, Topic] = {}
        self._by_name: dict[str, Topic] = {}
        for name, count in partitions.items():
            kind = KINDS[name]
            if kind.key_type is not None:
                topic = self._by_key_type[kind.key_type] = Topic(name, _topic_id(cluster_id, name), count)
                if kind.is_permanent:
                    self._by_name[name] = topic
        self._by_id = {topic.topic_id: topic for topic in self._by_name.values()}

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._by_name.values())

    def __contains__(self, name: str) -> bool:
        return name in KINDS

    def on_demand(self) -> list[Topic]:
        """Return the topics that are created on first use."""
        return [topic for topic in self._by_key_type.values() if topic.name not in self._by_name]

    def of_key_type(self, key_type: int) -> Topic | None:
        """Return the topic that owns keys of this FindCoordinator key type, even if it does not exist yet."""
        return self._by_key_type.get(key_type)

    def named(self, name: str) -> Topic | None:
        """Return the permanent topic of this name, or None."""
        return self._by_name.get(name)

    def of_id(self, topic_id: bytes) -> Topic | None:
        """Return the permanent topic of this id, or None."""
        return self._by_id.get(topic_id)


def _topic_id(cluster_id: str, name: str) -> bytes:
    """Return a version 8 UUID, derived from the cluster id and the name."""
    raw = bytearray(hashlib.sha256(f"{cluster_id}/{name}".encode()).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    return bytes(raw)
