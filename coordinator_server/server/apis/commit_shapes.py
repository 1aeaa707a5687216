"""Catalog lookups cached with the shape of plain commits: whether its topics exist, and the shard of its group.

The decoder of a connection keeps the shape until a commit with a different shape arrives.
"""

from __future__ import annotations

from collections.abc import Callable

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import Topic
from coordinator_server.offsets.commit_topic import PlainTopic
from coordinator_server.offsets.logged_shape import LoggedShape
from coordinator_server.server.hosting.node import Node
from protocol.first_versions import OFFSETS_BY_TOPIC_ID
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.plain_commits import CommitReader, PlainCommit


class ServedShape(LoggedShape):
    """A shape of commits with cached lookups, valid while its topics do not change."""

    __slots__ = ("_topics_found", "allowed_to", "partition")

    def __init__(self, version: int) -> None:
        super().__init__(version)
        # The partition of the group's shard.
        self.partition = -1
        # For whom all of it was allowed, if an authorizer is configured (``offset_commit.py``).
        self.allowed_to: object = None
        # The topics of the last successful lookup, or None.
        self._topics_found: list[Topic] | None = None

    def is_served(self, node: Node) -> bool:
        """Return whether all partitions exist. If so, ``partition`` and ``commit_topics`` are valid."""
        found = self._topics_found
        if found is not None and node.catalog.read(CatalogShard.are_present, found):
            return True
        return self._look_up(node)

    def _look_up(self, node: Node) -> bool:
        self._topics_found = None
        by_id = self.version >= OFFSETS_BY_TOPIC_ID
        found: list[Topic] = []
        for name, topic_id, partitions in self.topics:
            if by_id:
                topic = node.catalog.read(CatalogShard.topic_by_id, topic_id)
            else:
                topic = node.catalog.read(CatalogShard.topic, name)
            if topic is None or partitions.least < 0 or partitions.most >= topic.partitions:
                return False
            found.append(topic)
        self.log_as(
            [
                PlainTopic(self.group_id, topic.name, topic.topic_id, partitions)
                for topic, (_, _, partitions) in zip(found, self.topics, strict=True)
            ]
        )
        self.partition = node.partition_of(self.group_id)
        self._topics_found = found
        return True


def commit_reader(version: int) -> Callable[[bytes, int], tuple[OffsetCommitRequest | PlainCommit[ServedShape], int]]:
    """Return a decoder for one connection's OffsetCommit requests of one version."""
    return CommitReader(version, ServedShape).read
