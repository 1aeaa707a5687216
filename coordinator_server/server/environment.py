"""The operating system services of a server besides its event loop. A simulation replaces them."""

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
    """Clocks, ids, disk, threads and processes. None selects the log's own default. Each worker is one thread."""

    clock: Clock = SystemClock()
    new_uuid: Callable[[], uuid.UUID] = uuid.uuid4
    storage: Storage | None = None
    make_worker: Callable[[], Worker] | None = None
    make_writer: Callable[[Sync, Post], Writer] = make_writer
    # Connect the loops of a server.
    sockets: Sockets = UnixSockets()
    # Starts the child process for a loop's tasks.
    start_child: StartChild = start_executor
    # Whether the server has control.sock and the log cleaner, which involve other processes.
    has_tools: bool = True
