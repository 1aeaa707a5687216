"""The short way of requests that a client repeats, such as heartbeats: the last answer, as long as it is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Again
from coordinator_server.runtime.context import ShardContext, ShardState


class Repeat:
    """What answers a request that has been answered before."""

    __slots__ = ("_again", "_shard", "response")

    def __init__(self, shard: ShardContext[Any], again: Again, response: Any) -> None:
        self._shard = shard
        self._again = again
        self.response = response

    def while_true(self, condition: Callable[[], bool]) -> Repeat:
        """Return the same, which ends when ``condition`` is not true any more."""
        again = self._again
        return Repeat(self._shard, lambda upto: condition() and again(upto), self.response)

    def run(self) -> bool:
        """Do what the operation would do.

        Return False, without an effect, unless ``response`` is the answer and can be sent now.
        """
        shard = self._shard
        try:
            return shard.state is ShardState.ACTIVE and self._again(shard.high_watermark)
        except CoordinatorError:
            return False
