"""The operations of ``control.sock``: those on the whole log, and those of each kind (kind_operations.py).

All except ``shards``, ``status``, ``health`` and ``metrics`` are refused while shards are loading,
so that no operation sees a part of the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from coordinator_server.log.store import MaintainedLog, OnSealed
from coordinator_server.server.control.cut import Cut
from coordinator_server.server.control.digest import answer_digest
from coordinator_server.server.control.kind_operations import KIND_OPERATIONS
from coordinator_server.server.control.status import Status
from coordinator_server.server.hosting.end_offsets import end_offsets
from coordinator_server.server.hosting.hosted import Hosted
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.local_operation import Operation, Refusal


def control_operations(hosted: Hosted, store: MaintainedLog, node: Node, status: Status) -> dict[str, Operation]:
    """Return the operations of one loop, by name. With several loops the supervisor listens and calls each loop."""
    of_the_log: dict[str, Operation] = {
        "seal": partial(_answer_ends, store.seal),
        "write-out": partial(_answer_ends, store.write_out),
        "digest": partial(answer_digest, hosted.runtimes.values()),
        "cut": Cut(node.nodes.loop, hosted, node.courier, node.catalog).answer,
    }
    of_kinds: dict[str, Operation] = {
        name: partial(answer, node) for topic in hosted.runtimes for name, answer in KIND_OPERATIONS.get(topic, {}).items()
    }
    whole = {name: partial(_when_loaded, hosted, operation) for name, operation in (of_the_log | of_kinds).items()}
    return {"shards": partial(_answer_shards, hosted), "status": status.answer, **whole}


async def _answer_ends(work: Callable[[OnSealed], None], request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"shards": await end_offsets(work)}


async def _answer_shards(hosted: Hosted, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the state of each shard, and the number of records that its load has read so far."""
    return {"shards": {str(each.shard): {"state": each.state.value, "records_loaded": each.records} for each in hosted.progress}}


async def _when_loaded(hosted: Hosted, operation: Operation, request: Mapping[str, Any]) -> Mapping[str, Any]:
    left = hosted.left_to_load
    if left:
        raise Refusal(
            f'{left} shards are still being loaded, {{"op": "shards"}} says how far they are: try again when they are there',
            is_temporary=True,
        )
    return await operation(request)
