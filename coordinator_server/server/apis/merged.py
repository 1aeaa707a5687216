"""Joins two lists of answers for one request: some partitions are refused before the group's shard handles the others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Protocol, TypeVar


class AnsweredTopic(Protocol):
    """A topic of a response."""

    partitions: list[Any]


T = TypeVar("T", bound=AnsweredTopic)


def merged(refused: Iterable[T], answered: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """One entry per topic, as identified by ``key``; refused partitions come first."""
    topics = {key(topic): topic for topic in refused}
    for topic in answered:
        known = topics.setdefault(key(topic), topic)
        if known is not topic:
            known.partitions += topic.partitions
    return list(topics.values())
