"""The answers of many shards to one question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from protocol.error_codes import ErrorCode

R = TypeVar("R")


class Refused(NamedTuple):
    """What one shard answered instead of a result."""

    error: ErrorCode


class Gather(Generic[R]):
    """Collects ``count`` answers, each in its place, and hands them over when the last one is there."""

    __slots__ = ("_answers", "_gathered", "_missing")

    def __init__(self, count: int, gathered: Callable[[list[R | Refused]], None]) -> None:
        self._answers: list[Any] = [None] * count
        self._missing = count
        self._gathered = gathered
        if count == 0:
            gathered([])

    def reply(self, place: int) -> PlacedReply[R]:
        """The Reply of one shard."""
        return PlacedReply(self, place)

    def put(self, place: int, answer: R | Refused) -> None:
        """One more answer."""
        self._answers[place] = answer
        self._missing -= 1
        if self._missing == 0:
            self._gathered(self._answers)


class PlacedReply(Generic[R]):
    """A Reply that is one answer of a Gather."""

    __slots__ = ("_gather", "_place")

    def __init__(self, gather: Gather[R], place: int) -> None:
        self._gather = gather
        self._place = place

    def complete(self, response: R, /) -> None:
        """The shard's result, durable."""
        self._gather.put(self._place, response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """The shard has none."""
        self._gather.put(self._place, Refused(error))
