"""The collected answers of many shards to one request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from protocol.error_codes import ErrorCode

R = TypeVar("R")


class Refused(NamedTuple):
    """One shard's error, in place of a result."""

    error: ErrorCode


class Gather(Generic[R]):
    """Collects ``count`` answers in a fixed order and calls ``gathered`` with all of them after the last."""

    __slots__ = ("_answers", "_gathered", "_missing")

    def __init__(self, count: int, gathered: Callable[[list[R | Refused]], None]) -> None:
        self._answers: list[Any] = [None] * count
        self._missing = count
        self._gathered = gathered
        if count == 0:
            gathered([])

    def reply(self, place: int) -> PlacedReply[R]:
        """Return the Reply for the answer at index ``place``."""
        return PlacedReply(self, place)

    def put(self, place: int, answer: R | Refused) -> None:
        """Store one answer. Call ``gathered`` if it is the last."""
        self._answers[place] = answer
        self._missing -= 1
        if self._missing == 0:
            self._gathered(self._answers)


class PlacedReply(Generic[R]):
    """The Reply for one answer of a Gather."""

    __slots__ = ("_gather", "_place")

    def __init__(self, gather: Gather[R], place: int) -> None:
        self._gather = gather
        self._place = place

    def complete(self, response: R, /) -> None:
        """Store the shard's durable result."""
        self._gather.put(self._place, response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Store the shard's error."""
        self._gather.put(self._place, Refused(error))
