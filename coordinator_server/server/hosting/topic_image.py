"""The topics as handlers and groups of this loop see them: the catalog's and the permanent internal ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from coordinator_server.catalog.alter_configs import Own, ResourceType
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.catalog.topics import DeletedTopic, Topic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.hosting.internal_topics import InternalTopics
from protocol.error_codes import ErrorCode

NO_SETTINGS: Final[Own] = {}
DELETED_KEPT: Final = 1_000
"""So many deleted topics are known to shards that load later."""


class LoopTopics:
    """The topic image of a loop. ``changes`` has the topics that the catalog's records have changed."""

    def __init__(self, catalog: Catalog, internal: InternalTopics, changes: TopicChanges) -> None:
        self._catalog = catalog
        self._internal = internal
        self._changes = changes
        self._version_of_newest: int | None = None
        # The groups with settings; None when they may have changed.
        self._with_settings: frozenset[str] | None = None
        # Topics that were looked for by id since the last change: each write of share state looks for one.
        self._by_id: dict[bytes, Topic] = {}
        self.deleted: deque[DeletedTopic] = deque(maxlen=DELETED_KEPT)

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

    def has_all_of_now(self) -> Callable[[], bool]:
        """Return what says whether every topic that exists now is known here by then, unless it is deleted."""
        return self._catalog.has_all_of_now()

    def check_current(self) -> None:
        """Raise CoordinatorError if this loop's catalog may be stale. Call it before answering that something does not exist."""
        if not self._catalog.is_current:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the topics are not known here at the moment")

    def topic(self, name: str, /) -> Topic | None:
        """Return a topic by name, or None. Raises CoordinatorError while the catalog loads."""
        return self._catalog.read(CatalogShard.topic, name) or self._internal.named(name)

    def topic_by_id(self, topic_id: bytes, /) -> Topic | None:
        """Return a topic by id, or None. Raises CoordinatorError while the catalog loads."""
        topic = self._by_id.get(topic_id)
        if topic is None:
            topic = self._catalog.read(CatalogShard.topic_by_id, topic_id) or self._internal.of_id(topic_id)
            if topic is not None:
                self._by_id[topic_id] = topic
        return topic

    def all_topics(self) -> list[Topic]:
        """Return every topic: those of the catalog by name, then the permanent internal ones.

        Raises CoordinatorError while the catalog loads.
        """
        return [*self._catalog.read(CatalogShard.all_topics), *self._internal]

    def settings(self, group_id: str) -> Own:
        """Return the settings of a group, without defaults. Raises CoordinatorError while the catalog loads."""
        # Almost no group has any, and every heartbeat asks.
        if self._with_settings is None:
            self._with_settings = frozenset(self._catalog.read(CatalogShard.with_settings, ResourceType.GROUP))
        if group_id not in self._with_settings:
            return NO_SETTINGS
        return self._catalog.read(CatalogShard.settings, (ResourceType.GROUP, group_id))

    def refresh(self) -> list[str]:
        """Show the catalog as it is after a change. Return the names of topics that were created or extended."""
        self.forget_all()
        version = self._catalog.version
        names, has_new = self._changes.take(version)
        if has_new:
            self._version_of_newest = version
        return names

    def forget(self, topics: Sequence[DeletedTopic]) -> None:
        """Forget topics that were deleted, but for their names and ids."""
        self.deleted += topics
        for topic in topics:
            self._by_id.pop(topic.topic_id, None)

    def forget_all(self) -> None:
        """Look everything up in the catalog again, which may refuse now."""
        self._with_settings = None
        self._by_id.clear()
