"""Answers to the topics of one request that come from two places: some partitions were refused before the group was asked about the others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Protocol, TypeVar


class AnsweredTopic(Protocol):
    """A topic of a response."""

    partitions: list[Any]


T = TypeVar("T", bound=AnsweredTopic)


def merged(refused: Iterable[T], answered: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """One entry per topic, which ``key`` tells apart, the refused partitions first."""
    topics = {key(topic): topic for topic in refused}
    for topic in answered:
        known = topics.setdefault(key(topic), topic)
        if known is not topic:
            known.partitions += topic.partitions
    return list(topics.values())
