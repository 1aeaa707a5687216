"""The operation ``health`` of ``control.sock``: whether each loop serves, and why not.

{"op": "health"}
{"ok": true, "health": [{"loop": 0, "node_id": 1, "pid": 4711, "stage": "serving",
 "shards": {"active": 51}, "records_loaded": 9, "refuses": null, "awaited": null}]}

It costs a loop next to nothing. With several loops, the supervisor answers for one that is being
started or does not answer in time.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from coordinator_server.log.store import InspectedLog
from coordinator_server.runtime.context import ShardState
from coordinator_server.server.cluster.nodes import Nodes
from coordinator_server.server.hosting.hosted import Hosted

REFUSED_S: Final = 60.0
"""How long a refused write counts if no later one was tried. Without requests, no write shows that the disk has room again."""


class Health:
    """The state of one loop.

    ``stage`` is ``loading`` or ``serving``; ``refuses`` says why commits fail at the moment, or is None. ``awaited`` is what a node
    of several waits for before it serves: to join the others, a lease, its part of the shards at the start.
    """

    def __init__(self, nodes: Nodes, hosted: Hosted, store: InspectedLog, awaited: Callable[[], str | None]) -> None:
        self._nodes = nodes
        self._hosted = hosted
        self._store = store
        self._awaited = awaited

    async def answer(self, _request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return one entry: with several loops the supervisor joins them."""
        progress = self._hosted.progress
        shards = Counter(each.state.value for each in progress)
        states = {each.state for each in progress} - {ShardState.ACTIVE}
        # A shard that moved here loads while the others serve.
        is_serving = not states or (self._hosted.loaded_in_s is not None and states == {ShardState.LOADING})
        return {
            "health": [
                {
                    "loop": self._nodes.loop,
                    "node_id": self._nodes.id,
                    "pid": os.getpid(),
                    "stage": "serving" if is_serving else "loading",
                    "shards": dict(shards),
                    "records_loaded": sum(each.records for each in progress),
                    "refuses": self._refuses(),
                    "awaited": self._awaited(),
                }
            ]
        }

    def _refuses(self) -> str | None:
        failure, counts = self._store.failure, self._store.submits
        if failure is not None:
            return str(failure)
        return counts.refusal if time.monotonic() - counts.refused_at_s < REFUSED_S else None
