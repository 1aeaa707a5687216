"""The ``digest`` operation of control.sock: what the durable state of this server's shards comes to, for whoever compares it with a replay of the log.

    {"op": "digest", "shards": ["__consumer_offsets-7"], "groups": true}     both may be left out: all shards, without groups
    {"ok": true, "format": 1, "shards": {"__consumer_offsets-7": {"offset": 1234, "digest": "6413…", "groups": {"readers-1": "07aa…"}}}}

Each shard answers as of its high watermark at one moment; different shards at different ones. Long answers are worked out between other work of the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.digest import FORMAT
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.server.control import Refusal

# Some three milliseconds of a loop's time.
ITEMS_PER_STEP: Final = 1000


async def answer_digest(
    groups: CoordinatorRuntime[GroupShard], catalog: CoordinatorRuntime[CatalogShard], request: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Raises Refusal for a shard that is not here, and CoordinatorError for one that cannot be read."""
    topics = {str(shard): shard.partition for shard, *_ in catalog.progress}
    hosted = topics | {str(shard): shard.partition for shard, *_ in groups.progress}
    with_groups = request.get("groups") is True
    shards = {}
    for name in request.get("shards") or hosted:
        if name not in hosted:
            raise Refusal(f"no shard {name} here; there are: {', '.join(hosted)}")
        if name in topics:
            offset, digest = catalog.read(hosted[name], CatalogShard.digest)
            shards[name] = {"offset": offset, "digest": digest}
        else:
            shards[name] = await _groups_digest(groups, hosted[name], with_groups)
    return {"format": FORMAT, "shards": shards}


async def _groups_digest(groups: CoordinatorRuntime[GroupShard], partition: int, with_groups: bool) -> dict[str, Any]:
    found = groups.read(partition, GroupShard.digest, ITEMS_PER_STEP, with_groups)
    while found is None:
        await asyncio.sleep(0)
        found = groups.read(partition, GroupShard.digest, ITEMS_PER_STEP, with_groups)
    answer: dict[str, Any] = {"offset": found.offset, "digest": found.digest}
    if with_groups:
        answer["groups"] = found.groups
    return answer
