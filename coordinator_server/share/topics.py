"""The topics as share state sees them: which exist, and how many partitions they have.

A former owner of the shard may have known topics and partitions that come late here, and their states are in the log.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.share.requests import NEGATIVE_PARTITION
from protocol.error_codes import ErrorCode
from protocol.share_partition_names import is_negative, topic_and_partition_of


class TopicsById(Protocol):
    """The present topics of the loop."""

    @property
    def is_current(self) -> bool:
        """Whether a topic that is not known here does not exist."""

    def has_all_of_now(self) -> Callable[[], bool]:
        """Return what says whether every topic that exists now is known here by then, unless it is deleted.

        ``is_current`` is about what was answered: another node may use a topic before that.
        """

    def topic_by_id(self, topic_id: bytes, /) -> Topic | None:
        """Return the topic of this id, or None. Raises CoordinatorError while the catalog loads."""


class _NoTopics:
    is_current = False

    def has_all_of_now(self) -> Callable[[], bool]:
        return lambda: False

    def topic_by_id(self, _topic_id: bytes, /) -> None:
        return None


NO_TOPICS: Final[TopicsById] = _NoTopics()
"""The topics of a state machine that only replays."""


class TopicsSinceLoad:
    """The present topics of the loop, and whether those are among them that existed when the shard was loaded."""

    __slots__ = ("_has_all", "now")

    def __init__(self, now: TopicsById) -> None:
        self.now = now
        self._has_all = now.has_all_of_now()

    def note_load(self) -> None:
        """Note that the shard is loaded."""
        self._has_all = self.now.has_all_of_now()

    @property
    def are_known(self) -> bool:
        """Whether a topic or partition that is not found does not exist."""
        return self.now.is_current and self._has_all()


def check_partition(name: bytes) -> None:
    """Raise CoordinatorError for a negative partition."""
    if is_negative(name):
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, NEGATIVE_PARTITION)


def check_topic(topics: TopicsSinceLoad, name: bytes) -> None:
    """Raise CoordinatorError if the topic does not have the partition, or if that is not known now."""
    topic_id, partition = topic_and_partition_of(name)
    topic = topics.now.topic_by_id(topic_id)
    if topic is not None and partition < topic.partitions:
        return
    if not topics.are_known:
        raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the topics are not known here at the moment")
    raise CoordinatorError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
