"""What the operations on a share partition work with."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, NoReturn

from coordinator_server.machine.shard import Clock
from coordinator_server.share.partitions import SharePartitions
from coordinator_server.share.topics import TopicsSinceLoad


class ShareContext(NamedTuple):
    """The states of a shard, the topics, the clock, and after how many updates a snapshot is written."""

    partitions: SharePartitions
    topics: TopicsSinceLoad
    clock: Clock
    updates_per_snapshot: int


class _OnlyReplays:
    """The clock and the timers of a state machine that only replays."""

    def wall_ms(self) -> NoReturn:
        raise AssertionError("this state machine only replays")

    now_ms = wall_ms

    def schedule(self, *_: Any) -> NoReturn:
        raise AssertionError("this state machine only replays")

    def cancel(self, *_: Any) -> None:
        """Do nothing: there is no timer."""

    heard = cancel

    def is_scheduled(self, *_: Any) -> bool:
        return False

    def left_ms(self, *_: Any) -> None:
        """Return None: there is no timer."""


ONLY_REPLAYS: Final = _OnlyReplays()
