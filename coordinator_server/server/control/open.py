"""Opens the room: the operations of a loop, and the socket of a server with one loop."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from coordinator_server.log.store import LogStore
from coordinator_server.machine.shard import Clock
from coordinator_server.server.control.control_socket import ControlSocket
from coordinator_server.server.control.described_loops import OnlyLoop
from coordinator_server.server.control.loop_operations import control_operations
from coordinator_server.server.control.pipeline_reports import PipelineReports
from coordinator_server.server.control.refused_commits import answer_refused_commits
from coordinator_server.server.control.status import Status
from coordinator_server.server.hosting.open import Hosting
from coordinator_server.server.local_operation import Operation
from coordinator_server.server.wire.open import Wire


class Control(NamedTuple):
    """The room of local tools. With several loops the supervisor has the socket, and calls the operations of each loop."""

    operations: dict[str, Operation]
    socket: ControlSocket | None


def open_control(
    *, data_dir: Path, store: LogStore, clock: Clock, wire: Wire, hosting: Hosting, measured: Mapping[str, Operation]
) -> Control:
    """Create the operations, and with a cleaner the socket. ``measured`` are the operations of the room metrics."""
    hosted, node = hosting.hosted, hosting.node
    operations = control_operations(hosted, store, node, Status(node, hosted, store, wire, clock))
    operations |= {**measured, "refused-commits": partial(answer_refused_commits, hosting.group_counts.refused_commits)}
    if hosting.cleaner is None:
        return Control(operations, None)
    of_server = PipelineReports(hosting.cleaner.report).operations
    of_server |= OnlyLoop(node.config, node.nodes.id, hosted, wire.listener).operations
    return Control(operations, ControlSocket(data_dir, operations | of_server))
