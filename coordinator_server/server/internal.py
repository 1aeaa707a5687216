"""The topics that are this server's own log: clients see them, and may read them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from coordinator_server.catalog.topics import Topic
from coordinator_server.kinds import KINDS


class InternalTopics:
    """The topics of the kinds that are served and that clients look for, by key type; those that are always there by name and id, too.

    The others exist once the catalog lists them. The ids follow from the cluster's, so that all loops, and all starts, say the same.
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
        """The topics that exist from their first use on."""
        return [topic for topic in self._by_key_type.values() if topic.name not in self._by_name]

    def of_key_type(self, key_type: int) -> Topic | None:
        """Where FindCoordinator looks for keys of this type, whether the topic exists already or not."""
        return self._by_key_type.get(key_type)

    def named(self, name: str) -> Topic | None:
        """The topic of this name, if it is always there."""
        return self._by_name.get(name)

    def of_id(self, topic_id: bytes) -> Topic | None:
        """The topic of this id, if it is always there."""
        return self._by_id.get(topic_id)


def _topic_id(cluster_id: str, name: str) -> bytes:
    """A UUID of version 8: made from something, and not by chance."""
    raw = bytearray(hashlib.sha256(f"{cluster_id}/{name}".encode()).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    return bytes(raw)
