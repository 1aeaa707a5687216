"""Tells the shards of a loop what has become of topics: which changed, and which are deleted, so that their state goes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import structlog

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.gather import Refused
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation

log = structlog.get_logger(__name__)

DeleteTopics = WriteOperation[Any, Sequence[DeletedTopic], None]
TopicsChanged = Callable[[Any, int, Collection[str]], None]


class TopicNews:
    """Runs each kind's operations on every shard of this loop. Both mappings are by topic of the kind.

    While the lease is over no shard hears, so what comes then waits until it is renewed. A shard that loads later looks at all
    topics. Deletions also wait for ``begin``, when all shards are loaded.
    """

    def __init__(
        self,
        runtimes: Mapping[str, CoordinatorRuntime[Any]],
        deleting: Mapping[str, DeleteTopics],
        changing: Mapping[str, TopicsChanged],
        ourselves: RequestContext,
    ) -> None:
        self._runtimes = runtimes
        self._deleting = deleting
        self._changing = changing
        self._ourselves = ourselves
        self._has_begun = self._is_suspended = False
        self._deleted: list[DeletedTopic] = []
        # A dict, so that the names have a fixed order.
        self._changed: dict[str, None] = {}

    def begin(self) -> None:
        """Run the waiting deletions. Called when all shards are loaded."""
        self._has_begun = True
        self._tell()

    def suspend(self, is_over: bool) -> None:
        """Wait while the lease of the shards is over. Called when it is, and when the shards answer again."""
        self._is_suspended = is_over
        self._tell()

    def deleted(self, topics: Sequence[DeletedTopic]) -> None:
        """Remove the shards' state of these deleted topics."""
        self._deleted += topics
        self.changed([topic.name for topic in topics])

    def changed(self, names: Collection[str]) -> None:
        """Notify all loaded shards that these topics were created, extended or deleted."""
        self._changed.update(dict.fromkeys(names))
        self._tell()

    def _tell(self) -> None:
        if self._is_suspended:
            return
        if self._deleted and self._has_begun:
            topics, self._deleted = self._deleted, []
            for kind, operation in self._deleting.items():
                done: Callable[[list[Refused | None]], None] = partial(_log_failures, kind, [topic.name for topic in topics])
                self._runtimes[kind].write_all(operation, self._ourselves, topics, done)
        if self._changed:
            names, self._changed = self._changed, {}
            for kind, changed in self._changing.items():
                self._runtimes[kind].read_all("topics-changed", changed, names.keys())


def _log_failures(kind: str, topics: list[str], answers: list[Refused | None]) -> None:
    failed = sum(isinstance(answer, Refused) for answer in answers)
    if failed:
        log.warning("deleted-topics-kept", kind=kind, topics=topics, shards=failed)
