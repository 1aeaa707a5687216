"""Merges two lists of answers to one request: those of partitions refused by the handler, and those of the group's shard."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Protocol, TypeVar


class AnsweredTopic(Protocol):
    """A topic of a response."""

    partitions: list[Any]


T = TypeVar("T", bound=AnsweredTopic)


def merged(refused: Iterable[T], answered: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """Return one entry per topic, identified by ``key``. Refused partitions come first."""
    topics = {key(topic): topic for topic in refused}
    for topic in answered:
        known = topics.setdefault(key(topic), topic)
        if known is not topic:
            known.partitions += topic.partitions
    return list(topics.values())
