"""The operation ``status`` of ``control.sock``: how each loop is, at any time.

{"op": "status"}
{"ok": true, "status": [{"node_id": 1, "shards": {"active": 51}, "groups": {"classic": 7, "consumer": 2, …}, "connections": 3, …}]}

Groups that have committed offsets and nothing else are not counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

from coordinator_server import __version__
from coordinator_server.group.shard import GroupShard
from coordinator_server.log.store import InspectedLog
from coordinator_server.machine.shard import Clock
from coordinator_server.runtime.context import ShardState
from coordinator_server.server.hosting.hosted import Hosted
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.open import Wire


class Status:
    """What there is to say of one loop."""

    def __init__(self, node: Node, hosted: Hosted, store: InspectedLog, wire: Wire, clock: Clock) -> None:
        self._node = node
        self._hosted = hosted
        self._store = store
        self._wire = wire
        self._clock = clock
        self._started_ms = clock.now_ms()

    async def answer(self, _request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return one entry: with several loops the supervisor joins them."""
        hosted, failure = self._hosted, self._store.failure
        loaded = all(each.state is ShardState.ACTIVE for each in hosted.progress)
        return {
            "status": [
                {
                    "version": __version__,
                    "cluster_id": self._node.cluster_id,
                    "node_id": self._node.nodes.id,
                    "pid": os.getpid(),
                    "uptime_ms": self._clock.now_ms() - self._started_ms,
                    "is_loaded": loaded,
                    "shards": dict(Counter(each.state.value for each in hosted.progress)),
                    "groups": self._groups(),
                    "topics": len(self._node.image.all_topics()),
                    "connections": len(self._wire.listener.connections),
                    "certificates": self._wire.certificates.described(),
                    "incidents": dict(self._wire.incidents.counts),
                    "log_failure": None if failure is None else str(failure),
                }
            ]
        }

    def _groups(self) -> dict[str, int]:
        """Return the number of groups by type, of the shards that are loaded."""
        groups = self._node.groups
        counts: Counter[str] = Counter()
        for each in groups.progress:
            if each.state is ShardState.ACTIVE:
                counts.update(groups.read(each.shard.partition, GroupShard.counts))
        return dict(counts)
