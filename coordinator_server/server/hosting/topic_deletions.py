"""Removes the shards' state of deleted topics, for every kind whose row has an operation for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import structlog

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.gather import Refused
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation

log = structlog.get_logger(__name__)

DeleteTopics = WriteOperation[Any, Sequence[DeletedTopic], None]


class TopicDeletions:
    """Runs each kind's operation on every shard of this loop when topics are deleted. ``operations`` is by topic of the kind.

    Deletions before ``begin`` wait until ``begin`` is called, when all shards are loaded.
    """

    def __init__(
        self,
        runtimes: Mapping[str, CoordinatorRuntime[Any]],
        operations: Mapping[str, DeleteTopics],
        ourselves: RequestContext,
    ) -> None:
        self._runtimes = runtimes
        self._operations = operations
        self._ourselves = ourselves
        self._has_begun = False
        self._waiting: list[DeletedTopic] = []

    def begin(self) -> None:
        """Run the waiting deletions. Called when all shards are loaded."""
        self._has_begun = True
        self.remove_state(self._waiting)

    def remove_state(self, topics: Sequence[DeletedTopic]) -> None:
        """Remove the shards' state of these deleted topics."""
        if not self._has_begun:
            self._waiting += topics
        elif topics:
            for kind, operation in self._operations.items():
                done: Callable[[list[Refused | None]], None] = partial(_log_failures, kind, [topic.name for topic in topics])
                self._runtimes[kind].write_all(operation, self._ourselves, topics, done)


def _log_failures(kind: str, topics: list[str], answers: list[Refused | None]) -> None:
    failed = sum(isinstance(answer, Refused) for answer in answers)
    if failed:
        log.warning("deleted-topics-kept", kind=kind, topics=topics, shards=failed)
