"""The operating system services of a server besides its event loop. A simulation replaces them."""

from __future__ import annotations

import asyncio
import resource
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import structlog

from coordinator_server.config import Config
from coordinator_server.config.description import UNLIMITED
from coordinator_server.log.members import Opened
from coordinator_server.log.opening import Machine, Storage, Sync, Writer, make_writer, open_server_log
from coordinator_server.log.shards import LoopShards
from coordinator_server.runtime.clock import ProcessClock, SystemClock
from coordinator_server.runtime.executor import StartChild
from coordinator_server.server.cluster.link_transport import MakeNodeLinks, NodeTransports, OtherNodes
from coordinator_server.server.cluster.unix import Sockets, UnixSockets
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.hosting.executor import start_executor
from coordinator_server.server.wire.acceptor import MakeAcceptor, SocketAcceptor
from coordinator_server.server.wire.incidents import Incidents
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


class OpenLog(Protocol):
    """Opens the log of a server, or ``part`` of it. Raises LogError."""

    async def __call__(
        self, data_dir: Path, config: Config, post: Post, part: LoopShards | None, machine: Machine, /
    ) -> Opened: ...


def open_node_links(config: Config, others: OtherNodes, incidents: Incidents) -> NodeTransports:
    """Open the links to other nodes that the properties describe. Raises ConfigError."""
    # Only a node loads the package of certificates.
    from coordinator_server.server.cluster.node_listener import open_node_listener

    return open_node_listener(config, others, incidents)


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
    open_log: OpenLog = open_server_log
    # Connects nodes that share a store.
    node_links: MakeNodeLinks = open_node_links
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
