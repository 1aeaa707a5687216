"""A kind of shard that only tests have, made by the steps of CONTRIBUTING.md: a clock, timers, two record types that add up.

Its rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from coordinator_server.kinds import KINDS, Kind
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.pipeline.rules import RULES, Folded, Rule
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.runtime.services import BuildShard, ShardServices
from coordinator_server.server.control.kind_operations import KIND_OPERATIONS
from coordinator_server.server.hosting.builders import BUILDERS, Builder, Materials
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.local_operation import Refusal
from protocol.error_codes import ErrorCode
from tests.leases.records import LeaseSerde
from tests.leases.shard import Acquire, Lease, LeaseShard
from tests.leases.state import LeaseFold, LeaseState

PARTITIONS: Final = 5
LEASES: Final = Kind("__toy_leases", LeaseSerde(), PARTITIONS, key_type=46)
ACQUIRE: Final = WriteOperation("lease-acquire", LeaseShard.acquire)


def plug() -> None:
    """Have leases in this process."""
    KINDS[LEASES.topic] = LEASES
    BUILDERS[LEASES.topic] = Builder(build_leases)
    KIND_OPERATIONS[LEASES.topic] = {LEASES.topic: _answer_acquire}
    RULES[LEASES.topic] = Rule(LEASES, LeaseState, Folded(lambda state: LeaseFold(state.shard)))


def unplug() -> None:
    """Have them no more."""
    del KINDS[LEASES.topic], BUILDERS[LEASES.topic], KIND_OPERATIONS[LEASES.topic], RULES[LEASES.topic]


def build_leases(materials: Materials) -> BuildShard[LeaseShard]:
    """Leases, on the server's clock."""

    def build(*, partition: int, registry: SnapshotRegistry, services: ShardServices) -> LeaseShard:
        return LeaseShard(registry=registry, clock=materials.clock, timer=services.timer)

    return build


async def _answer_acquire(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take, renew or forget a lease, or, without an owner, read it:
    ``{"op": "__toy_leases", "shards": [...], "name": "a", "owner": "b", "for_ms": 9}``.
    """
    name, runtime = str(request["name"]), node.runtimes[LEASES.topic]
    partition = partition_for(name, PARTITIONS)
    if "owner" not in request:
        try:
            return _told(runtime.read(partition, LeaseShard.lease, name))
        except CoordinatorError as why:
            raise Refusal(why.error.name) from why
    outcome: asyncio.Future[Lease | None] = asyncio.get_running_loop().create_future()

    def refused(error: ErrorCode, message: str | None) -> None:
        outcome.set_exception(Refusal(error.name))

    asked = Acquire(name, request["owner"], request["for_ms"])
    runtime.write(partition, ACQUIRE, node.ourselves, asked, CallbackReply(outcome.set_result, refused))
    return _told(await outcome)


def _told(lease: Lease | None) -> Mapping[str, Any]:
    return {"lease": None if lease is None else lease._asdict()}
