"""The operation ``owners`` of ``control.sock``: which loop owns each shard.

{"op": "owners"}
{"ok": true, "version": 3, "owners": {"__consumer_offsets-7": {"loop": 1, "node_id": 2, "epoch": 2}, …}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.view import NO_NODE, View


def described_owners(view: View, partitions: Mapping[str, int]) -> Mapping[str, Any]:
    """Return the owner of every shard. ``partitions`` has the number of shards of each topic."""
    loops = {node.id: node.loop for node in view.nodes} | {NO_NODE: -1}
    owners = {}
    for topic, count in sorted(partitions.items()):
        for partition in range(count):
            owner = view.owner_of(shard := ShardId(topic, partition))
            owners[str(shard)] = {"loop": loops[owner.node], "node_id": owner.node, "epoch": owner.epoch}
    return {"version": view.version, "owners": owners}
