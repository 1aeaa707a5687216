"""The operations of ``control.sock``: those on the log as a whole, and those that the kinds bring (builders.py).

Each but ``shards`` is refused while shards are being loaded: whoever works on the log as a whole gets it whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from coordinator_server.log.errors import LogError
from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.shards import ShardId
from coordinator_server.server.builders import Builder
from coordinator_server.server.control import Operation, Refusal
from coordinator_server.server.digest import answer_digest
from coordinator_server.server.hosted import Hosted
from coordinator_server.server.node import Node


def control_operations(hosted: Hosted, store: LocalLogStore, node: Node, builders: Mapping[str, Builder]) -> dict[str, Operation]:
    """By name. With several loops the supervisor listens, and asks all of them."""
    of_the_log: dict[str, Operation] = {
        "seal": partial(_answer_seal, store),
        "digest": partial(answer_digest, hosted.runtimes.values()),
    }
    of_kinds: dict[str, Operation] = {
        name: partial(answer, node) for builder in builders.values() for name, answer in builder.operations.items()
    }
    whole = {name: partial(_when_loaded, hosted, operation) for name, operation in (of_the_log | of_kinds).items()}
    return {"shards": partial(_answer_shards, hosted), **whole}


async def seal(store: LocalLogStore) -> Mapping[str, int]:
    """End every active segment, so that all that is durable now can be compacted; where each shard is sealed up to."""
    sealed: asyncio.Future[dict[str, int]] = asyncio.get_running_loop().create_future()

    def done(outcome: dict[ShardId, int] | LogError) -> None:
        if isinstance(outcome, LogError):
            sealed.set_exception(outcome)
        else:
            sealed.set_result({str(shard): end for shard, end in outcome.items()})

    store.seal(done)
    return await sealed


async def _answer_seal(store: LocalLogStore, request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"shards": await seal(store)}


async def _answer_shards(hosted: Hosted, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where each shard is in its life, and how many records its load has read so far."""
    return {"shards": {str(each.shard): {"state": each.state.value, "records_loaded": each.records} for each in hosted.progress}}


async def _when_loaded(hosted: Hosted, operation: Operation, request: Mapping[str, Any]) -> Mapping[str, Any]:
    left = hosted.left_to_load
    if left:
        raise Refusal(
            f'{left} shards are still being loaded, {{"op": "shards"}} says how far they are: try again when they are there'
        )
    return await operation(request)
