"""The topics as the groups of this loop see them: the catalog's and the permanent internal ones.

The notices to the shards are made here, when a change is visible in this loop's catalog and before it is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from coordinator_server.catalog.alter_configs import Own, ResourceType
from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.catalog.topics import DeletedTopic, Topic
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.hosting.internal_topics import InternalTopics

NO_SETTINGS: Final[Own] = {}


class LoopTopics:
    """The topic image of a loop. ``begin`` gives it the catalog, before any shard is loaded."""

    def __init__(self) -> None:
        self.changes = TopicChanges()
        self._catalog: Catalog
        self._internal: InternalTopics
        self._tell: Callable[[Collection[str]], None]
        self._version_of_newest: int | None = None
        # The groups with settings; None when they may have changed.
        self._with_settings: frozenset[str] | None = None
        # Topics that were looked for by id since the last change: each write of share state looks for one.
        self._by_id: dict[bytes, Topic] = {}

    def begin(self, catalog: Catalog, internal: InternalTopics, tell: Callable[[Collection[str]], None]) -> None:
        """Start to show the topics of this catalog. ``tell`` notifies all shards which topics have changed."""
        self._catalog, self._internal, self._tell = catalog, internal, tell

    @property
    def version(self) -> int:
        """The number of records of the catalog that this loop has."""
        return self._catalog.version

    @property
    def version_of_newest(self) -> int:
        """The version in which topics were last created here."""
        if self._version_of_newest is None:
            self._version_of_newest = self._catalog.version
        return self._version_of_newest

    @property
    def is_current(self) -> bool:
        """Whether a topic that is not known here does not exist."""
        return self._catalog.is_current

    def topic(self, name: str, /) -> Topic | None:
        """Return a topic by name, or None. Raises CoordinatorError while the catalog loads."""
        return self._catalog.topic(name) or self._internal.named(name)

    def topic_by_id(self, topic_id: bytes, /) -> Topic | None:
        """Return a topic by id, or None. Raises CoordinatorError while the catalog loads."""
        topic = self._by_id.get(topic_id)
        if topic is None:
            topic = self._catalog.topic_by_id(topic_id) or self._internal.of_id(topic_id)
            if topic is not None:
                self._by_id[topic_id] = topic
        return topic

    def all_topics(self) -> Sequence[Topic]:
        """Return every topic: those of the catalog by name, then the permanent internal ones."""
        return [*self._catalog.all_topics(), *self._internal]

    def settings(self, group_id: str) -> Own:
        """Return the settings of a group, without defaults. Raises CoordinatorError while the catalog loads."""
        # Almost no group has any, and every heartbeat asks.
        if self._with_settings is None:
            self._with_settings = frozenset(self._catalog.with_settings(ResourceType.GROUP))
        return self._catalog.settings((ResourceType.GROUP, group_id)) if group_id in self._with_settings else NO_SETTINGS

    def changed(self) -> None:
        """Notify the shards which topics were created or extended. Called for every change of the catalog."""
        self._with_settings = None
        self._by_id.clear()
        version = self._catalog.version
        names, has_new = self.changes.take(version)
        if has_new:
            self._version_of_newest = version
        if names:
            self._tell(names)

    def forget(self, topics: Sequence[DeletedTopic]) -> None:
        """Forget topics that were deleted. Called before anything is notified of it."""
        for topic in topics:
            self._by_id.pop(topic.topic_id, None)

    def deleted(self, topics: Sequence[DeletedTopic]) -> None:
        """Notify the shards which topics were deleted."""
        if topics:
            self._tell([topic.name for topic in topics])
