"""The operation ``cut`` of ``control.sock``: an offset of each shard, so that all together were the state at one moment.

    {"op": "cut", "hold_ms": 500}
    {"ok": true, "cut": [{"loop": 0, "pid": 4711, "hold": 3, "in_flight": 0, "catalog": 210,
     "shards": {"__consumer_offsets-7": 1234, …}}]}

The high watermarks of one loop, read in one turn, are a prefix of its journal: whatever a record in it follows from is in it, too.
Between loops that is not so: a marker may be in the offsets of one loop, and the transaction's end not in those of the other. So
a caller that has several loops asks them again and again. ``hold_ms`` keeps a loop from sending messages to other loops for that
long (they are sent later, as after any refusal); 0 ends it. When all loops have said that nothing is in flight, nothing goes
between them while they are held, and the next answer of all loops is the state at one moment. It must be of the same ``hold`` of
each loop, and no loop's replica of the catalog (``catalog``, an offset) may be ahead of the catalog's own shard.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any, Final

from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.cluster.effects import Courier
from coordinator_server.server.hosting.hosted import Hosted
from coordinator_server.server.local_operation import Refusal

# Clients that wait for a message between loops wait this much longer at most, if a caller dies.
MOST_HOLD_MS: Final = 2000


class Cut:
    """The cut of one loop."""

    def __init__(self, loop: int, hosted: Hosted, courier: Courier, catalog: Catalog) -> None:
        self._loop = loop
        self._hosted = hosted
        self._courier = courier
        self._catalog = catalog
        self._hold = 0
        self._release: asyncio.TimerHandle | None = None

    async def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return one entry: with several loops the supervisor joins them. Raises Refusal."""
        hold_ms = request.get("hold_ms", 0)
        if not isinstance(hold_ms, int) or not 0 <= hold_ms <= MOST_HOLD_MS:
            raise Refusal(f"hold_ms is a number of ms from 0 to {MOST_HOLD_MS}")
        self._hold_for(hold_ms)
        shards = {
            str(each.shard): runtime.read(each.shard.partition, _high_watermark)
            for runtime in self._hosted.runtimes.values()
            for each in runtime.progress
        }
        return {
            "cut": [
                {
                    "loop": self._loop,
                    "pid": os.getpid(),
                    "hold": self._hold,
                    "in_flight": self._courier.in_flight,
                    "catalog": self._catalog.version,
                    "shards": shards,
                }
            ]
        }

    def _hold_for(self, hold_ms: int) -> None:
        if self._release is not None:
            self._release.cancel()
            self._release = None
        if not hold_ms:
            self._courier.is_held = False
            return
        if not self._courier.is_held:
            self._courier.is_held = True
            self._hold += 1
        self._release = asyncio.get_running_loop().call_later(hold_ms / 1000, self._let_go)

    def _let_go(self) -> None:
        self._release, self._courier.is_held = None, False


def _high_watermark(_shard: object, committed_offset: int) -> int:
    return committed_offset
