"""The ``digest`` operation of control.sock: digests of the shards' durable state, for comparison with a replay of the log.

    {"op": "digest", "shards": ["__consumer_offsets-7"], "parts": true}     both are optional: the default is all shards, no parts
    {"ok": true, "format": 2, "shards": {"__consumer_offsets-7": {"offset": 1234, "digest": "6413…",
     "parts": {"readers-1": "07aa…"}}}}

Each digest is of one shard at one high watermark; different shards are read at different times. Long computations are split
into steps, between other work of the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final

from coordinator_server.machine.digest import FORMAT, StateDigest
from coordinator_server.machine.shard import CoordinatorShard
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.server.local_operation import Refusal

# Takes about two milliseconds of a loop's time.
ITEMS_PER_STEP: Final = 500


async def answer_digest(runtimes: Iterable[CoordinatorRuntime[Any]], request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the digests. Raises Refusal for a shard of a different loop, and CoordinatorError for one that cannot be read."""
    hosted = {str(each.shard): (runtime, each.shard.partition) for runtime in runtimes for each in runtime.progress}
    with_parts = request.get("parts") is True
    shards = {}
    for name in request.get("shards") or hosted:
        if name not in hosted:
            raise Refusal(f"no shard {name} here; there are: {', '.join(hosted)}")
        found = await _digest(*hosted[name], with_parts=with_parts)
        answer: dict[str, Any] = {"offset": found.offset, "digest": found.digest}
        shards[name] = answer | {"parts": found.parts} if with_parts else answer
        # Many small shards take long together.
        await asyncio.sleep(0)
    return {"format": FORMAT, "shards": shards}


async def _digest(runtime: CoordinatorRuntime[Any], partition: int, *, with_parts: bool) -> StateDigest:
    found = runtime.read(partition, _step, with_parts)
    while found is None:
        await asyncio.sleep(0)
        found = runtime.read(partition, _step, with_parts)
    return found


def _step(shard: CoordinatorShard, committed_offset: int, with_parts: bool) -> StateDigest | None:
    return shard.digest(committed_offset, ITEMS_PER_STEP, with_parts)
