"""The foundation: what all rooms of a loop's server are built on."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from coordinator_server.config import Config
from coordinator_server.log.store import LogStore
from coordinator_server.machine.shard import Clock, CoordinatorTimer
from coordinator_server.runtime.lease import Gate
from coordinator_server.runtime.services import LoopServices
from coordinator_server.runtime.timers import ShardTimers, Timer
from coordinator_server.worker import Worker


class Foundation(NamedTuple):
    """The event loop, the configuration, the open log, and what its shards and rooms share.

    ``gate`` has the leases. ``new_worker`` returns a thread, whose death is logged as the event that it is given.
    """

    loop: asyncio.AbstractEventLoop
    config: Config
    data_dir: Path
    store: LogStore
    services: LoopServices
    gate: Gate
    new_uuid: Callable[[], uuid.UUID]
    new_worker: Callable[[str], Worker]

    @property
    def clock(self) -> Clock:
        """The clock of the loop."""
        return self.services.clock

    def timers(self) -> CoordinatorTimer:
        """Return timers for what is not a shard, with keys of their own."""
        return ShardTimers(self.services.timers, self.services.clock, _run)


def _run(timer: Timer) -> None:
    timer.operation()
