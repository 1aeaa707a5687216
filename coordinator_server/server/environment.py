"""What a server takes from the machine it runs on, besides its event loop: here are the real things, and a simulation brings its own."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import NamedTuple

from coordinator_server.log.storage import Storage
from coordinator_server.log.write.journal_writer import Post, Sync, Writer, make_writer
from coordinator_server.log.write.worker import Worker
from coordinator_server.machine.shard import Clock
from coordinator_server.runtime.clock import SystemClock
from coordinator_server.runtime.executor import StartChild
from coordinator_server.server.executor import start_executor
from coordinator_server.server.unix import Sockets, UnixSockets


class Environment(NamedTuple):
    """Clocks, ids, disk and threads. None stands for what the log takes by itself; each worker is one more thread."""

    clock: Clock = SystemClock()
    new_uuid: Callable[[], uuid.UUID] = uuid.uuid4
    storage: Storage | None = None
    make_worker: Callable[[], Worker] | None = None
    make_writer: Callable[[Sync, Post], Writer] = make_writer
    # Between the loops of a server.
    sockets: Sockets = UnixSockets()
    # The child that a loop's tasks run in.
    start_child: StartChild = start_executor
    # control.sock and the log's cleaner, which are of other processes.
    has_tools: bool = True
