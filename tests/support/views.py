"""Views of loops that no shard has left."""

from __future__ import annotations

from typing import Final

from coordinator_server.config import Config
from coordinator_server.config.listeners import listener_specs
from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.nodes import Nodes
from coordinator_server.server.cluster.view import View, view_of_loops

CONTROLLER: Final = 0
"""The loop that owns the catalog."""


def loops_view(loops: int = 1, first_id: int = 1) -> View:
    """Return the view of loops with ports from 9092 on."""
    return view_of_loops(first_id, listener_specs(Config()), [range(9092, 9092 + loops)])


def loops_nodes(loops: int = 1, loop: int = 0, first_id: int = 1) -> Nodes:
    """Return the nodes as one of the loops sees them."""
    return Nodes(first_id + loop, loops_view(loops, first_id))


def loop_of(shard: ShardId, loops: int) -> int:
    """Return the loop that owns a shard."""
    return loops_view(loops).loop_of(shard)
