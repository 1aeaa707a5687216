"""Opens the room: the operations of a loop, and the socket of a server with one loop."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from coordinator_server.log.store import LogStore
from coordinator_server.server.control.control_socket import ControlSocket
from coordinator_server.server.control.described_loops import OnlyLoop
from coordinator_server.server.control.described_owners import described_owners
from coordinator_server.server.control.loop_operations import control_operations
from coordinator_server.server.control.pipeline_reports import PipelineReports
from coordinator_server.server.control.refused_commits import answer_refused_commits
from coordinator_server.server.control.status import Status
from coordinator_server.server.foundation import Foundation
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.hosting.open import Hosting
from coordinator_server.server.local_operation import Operation, Refusal
from coordinator_server.server.wire.open import Wire


async def _answer_owners(node: Node, store: LogStore, _request: Mapping[str, Any]) -> Mapping[str, Any]:
    return described_owners(node.nodes.view, store.meta.partitions)


async def _refuse_moves(_request: Mapping[str, Any]) -> Mapping[str, Any]:
    raise Refusal("the server has one loop, which owns every shard: --loops starts several")


class Control(NamedTuple):
    """The room of local tools. With several loops the supervisor has the socket, and calls the operations of each loop."""

    operations: dict[str, Operation]
    socket: ControlSocket | None


def open_control(
    base: Foundation, wire: Wire, hosting: Hosting, *, measured: Mapping[str, Operation], has_socket: bool
) -> Control:
    """Create the operations, and the socket of a server with one loop. ``measured`` are the operations of the room metrics."""
    hosted, node, store = hosting.hosted, hosting.node, base.store
    operations = control_operations(hosted, store, node, Status(node, hosted, store, wire, base.clock))
    operations |= {**measured, "refused-commits": partial(answer_refused_commits, hosting.group_counts.refused_commits)}
    if not has_socket:
        return Control(operations | hosting.moves.operations, None)
    of_server: dict[str, Operation] = {} if hosting.cleaner is None else PipelineReports(hosting.cleaner.report).operations
    of_server |= {"owners": partial(_answer_owners, node, store), "move-shard": _refuse_moves}
    of_server |= OnlyLoop(node.config, node.nodes.id, hosted, wire.listener).operations
    return Control(operations, ControlSocket(base.data_dir, operations | of_server))
