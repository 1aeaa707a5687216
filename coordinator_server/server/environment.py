"""The operating system services of a server besides its event loop. A simulation replaces them."""

from __future__ import annotations

import asyncio
import resource
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import structlog

from coordinator_server.config.description import UNLIMITED
from coordinator_server.log.opening import Storage, Sync, Writer, make_writer
from coordinator_server.runtime.clock import ProcessClock, SystemClock
from coordinator_server.runtime.executor import StartChild
from coordinator_server.server.cluster.unix import Sockets, UnixSockets
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.hosting.executor import start_executor
from coordinator_server.server.wire.acceptor import MakeAcceptor, SocketAcceptor
from coordinator_server.worker import Post, ThreadWorker, Worker

log = structlog.get_logger(__name__)


def make_loop_writer(sync: Sync, post: Post) -> Writer:
    """Return the journal's writer for the running loop."""
    return make_writer(sync, post, asyncio.get_running_loop())


def open_files_allowed() -> int:
    """Return the limit of open files of this process."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return UNLIMITED if soft == resource.RLIM_INFINITY else soft


def unaltered(apis: Sequence[ApiRow[Any, Any]]) -> Sequence[ApiRow[Any, Any]]:
    """Return the APIs as they are."""
    return apis


class Environment(NamedTuple):
    """Clocks, ids, disk, threads and processes. None selects the log's own default. Each worker is one thread."""

    clock: ProcessClock = SystemClock()
    new_uuid: Callable[[], uuid.UUID] = uuid.uuid4
    storage: Storage | None = None
    make_worker: Callable[[], Worker] | None = None
    make_writer: Callable[[Sync, Post], Writer] = make_loop_writer
    # Accepts the connections of clients.
    make_acceptor: MakeAcceptor = SocketAcceptor
    # The number of files and sockets that the process may have open.
    open_files: Callable[[], int] = open_files_allowed
    # Connect the loops of a server.
    sockets: Sockets = UnixSockets()
    # Starts the child process for a loop's tasks.
    start_child: StartChild = start_executor
    # Alters the handlers of the API table, for servers that fail on purpose.
    alter_apis: Callable[[Sequence[ApiRow[Any, Any]]], Sequence[ApiRow[Any, Any]]] = unaltered
    # Whether the server has control.sock and the log cleaner, which involve other processes.
    has_tools: bool = True

    def worker(self, stopped_event: str) -> Worker:
        """Return a worker. Of a thread this event is logged if a job ends it."""
        return self.make_worker() if self.make_worker is not None else ThreadWorker(lambda: log.error(stopped_event))
