"""Answers to all members of a group whose join or sync phase ends: at once to a few hundred, to more over several turns.

The state of the group changes at once, and says who waits no longer. The rest is to make the bytes of each answer and to write them
to a connection: for ten thousand members, that would keep the loop from everybody else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from coordinator_server.machine.shard import DEFERRED, CoordinatorResult, CoordinatorTimer, Reply

ANSWERS_PER_STEP: Final = 200
"""A few milliseconds."""
_KEY: Final = ("answers",)

Answer = tuple[Reply[Any], Any]


class Answers:
    """The answers of one shard that wait for their turn."""

    __slots__ = ("_timer", "_waiting")

    def __init__(self, timer: CoordinatorTimer) -> None:
        self._timer = timer
        self._waiting: deque[Iterator[Answer]] = deque()

    def give(self, count: int, answers: Iterable[Answer]) -> None:
        """Give ``count`` answers, which are made one by one as they are given: their contents must be known now."""
        if count <= ANSWERS_PER_STEP:
            _give(answers)
            return
        self._waiting.append(iter(answers))
        if not self._timer.is_scheduled(_KEY):
            self._timer.schedule(_KEY, 0, self._step)

    def finish(self) -> None:
        """Give all that are left: the shard is unloaded."""
        self._timer.cancel(_KEY)
        while self._waiting:
            _give(self._waiting.popleft())

    def _step(self) -> CoordinatorResult[Any]:
        # First, so that a bug in one answer does not stop the others.
        self._timer.schedule(_KEY, 0, self._step)
        if _give(islice(self._waiting[0], ANSWERS_PER_STEP)) < ANSWERS_PER_STEP:
            self._waiting.popleft()
        if not self._waiting:
            self._timer.cancel(_KEY)
        return CoordinatorResult(DEFERRED)


def _give(answers: Iterable[Answer]) -> int:
    """Return the number of answers."""
    given = 0
    for reply, response in answers:
        reply.complete(response)
        given += 1
    return given
