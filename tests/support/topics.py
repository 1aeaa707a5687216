"""The topics that a shard under test sees: a test creates, extends and deletes them, and the shard is told."""

from __future__ import annotations

from collections.abc import Callable, Collection

from coordinator_server.catalog.topics import DeletedTopic, Topic


class FakeTopics:
    """A TopicImage. ``tell`` gets the names of each change, when the image shows it."""

    def __init__(self) -> None:
        self.tell: Callable[[Collection[str]], None] = lambda _names: None
        self.is_current = self.has_all = True
        self.version = 0
        self.version_of_newest = 0
        self.deleted: list[DeletedTopic] = []
        # Topics that exist, and that this loop has not learned of.
        self.unknown: set[str] = set()
        self._by_name: dict[str, Topic] = {}
        # By id, of all topics that ever were.
        self._names: dict[bytes, str] = {}
        self._ids = 0

    def has_all_of_now(self) -> Callable[[], bool]:
        return lambda: self.has_all

    def topic(self, name: str, /) -> Topic | None:
        return None if name in self.unknown else self._by_name.get(name)

    def topic_by_id(self, topic_id: bytes, /) -> Topic | None:
        found = self.topic(self._names.get(topic_id, ""))
        return found if found is not None and found.topic_id == topic_id else None

    def all_topics(self) -> list[Topic]:
        return [self._by_name[name] for name in sorted(self._by_name.keys() - self.unknown)]

    def create(self, **topics: int) -> None:
        """Create topics with so many partitions, in one version. Their ids are 1, 2, 3 …"""
        for name, partitions in topics.items():
            self._ids += 1
            topic = self._by_name[name] = Topic(name, self._ids.to_bytes(16, "big"), partitions)
            self._names[topic.topic_id] = name
        self.version_of_newest = self.version + 1
        self._change(topics)

    def extend(self, name: str, partitions: int) -> None:
        """Give a topic more partitions."""
        topic = self._by_name[name]
        self._by_name[name] = Topic(name, topic.topic_id, partitions)
        self._change([name])

    def delete(self, name: str) -> None:
        self.deleted.append(DeletedTopic(name, self._by_name.pop(name).topic_id))
        self._change([name])

    def _change(self, names: Collection[str]) -> None:
        self.version += 1
        self.tell(list(names))
