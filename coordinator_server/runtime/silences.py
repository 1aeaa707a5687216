"""Receives the times in which the timers of a shard heard nothing from their clients. The default discards them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Protocol

from coordinator_server.log.shards import ShardId

NEVER_MS: Final = 1 << 60


class ShardSilences(Protocol):
    """Takes the silences of one shard from the time when its timers begin. ``least_ms`` never changes. Times are of the timers."""

    @property
    def least_ms(self) -> int: ...

    def note(self, key: Hashable, since_ms: int, until_ms: int, /) -> None:
        """Take a silence of at least ``least_ms``: of whom the timer of ``key`` waits for."""

    def end(self) -> None:
        """The timers have ended: all silences until now have been noted."""


class _Unmeasured:
    least_ms = NEVER_MS

    def note(self, key: Hashable, since_ms: int, until_ms: int, /) -> None:
        """Do nothing: no silence is so long."""

    def end(self) -> None:
        """Do nothing."""


UNMEASURED: Final[ShardSilences] = _Unmeasured()
SilencesOf = Callable[[ShardId], ShardSilences]


def unmeasured(_shard: ShardId) -> ShardSilences:
    """Measure no silences of a shard."""
    return UNMEASURED
