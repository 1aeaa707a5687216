"""The topic image: the topics as the groups of a loop see them (Kafka's ``CoordinatorMetadataImage``).

All topics of the server are in it, internal ones too. It shows only what is durable, and what every serving loop has or is about
to get. Shards are notified which topics have changed (``GroupType.topics_changed``) when the image shows the change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from coordinator_server.catalog.topics import DeletedTopic, Topic


class TopicImage(Protocol):
    """The present topics. All methods raise CoordinatorError while the catalog loads."""

    @property
    def version(self) -> int:
        """A number that grows with every change of the topics, and is the same in all loops."""

    @property
    def version_of_newest(self) -> int:
        """The version in which topics were last created; the first version that this process knew if there was none since."""

    @property
    def is_current(self) -> bool:
        """Whether a topic that is not known here does not exist. It may also be unknown while this loop cannot learn of it."""

    @property
    def deleted(self) -> Sequence[DeletedTopic]:
        """The topics that were deleted while this process ran: the last of them, the oldest first."""

    def has_all_of_now(self) -> Callable[[], bool]:
        """Return what says whether every topic that exists now is known here by then, unless it is deleted.

        ``is_current`` is about what was answered: another node may use a topic before that.
        """

    def topic(self, name: str, /) -> Topic | None:
        """Return the topic of this name, or None."""

    def topic_by_id(self, topic_id: bytes, /) -> Topic | None:
        """Return the topic of this id, or None."""

    def all_topics(self) -> Sequence[Topic]:
        """Return every topic."""


def is_among(image: TopicImage, names: Collection[str], topic_id: bytes) -> bool:
    """Return whether a topic exists and has one of these names."""
    topic = image.topic_by_id(topic_id)
    return topic is not None and topic.name in names


class _NoTopics:
    version = version_of_newest = 0
    is_current = False
    deleted: Sequence[DeletedTopic] = ()

    def has_all_of_now(self) -> Callable[[], bool]:
        return lambda: False

    def topic(self, _name: str, /) -> None:
        return None

    def topic_by_id(self, _topic_id: bytes, /) -> None:
        return None

    def all_topics(self) -> Sequence[Topic]:
        return ()


NO_TOPICS: Final[TopicImage] = _NoTopics()
"""The image of a state machine that only replays."""
