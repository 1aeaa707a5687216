"""The kind of shard that pays into other shards and has a child (purse.py): a row in each table, as in rows.py."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from coordinator_server.kinds import Kind
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.rules import Keyed, Rule
from coordinator_server.pipeline.states.changes import LastChanges
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.loader import BatchReplay
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.runtime.services import NO_EFFECTS, BuildShard, ShardServices
from coordinator_server.server.cluster.effects import asked
from coordinator_server.server.hosting.builders import Builder, Materials
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.local_operation import Refusal
from protocol.error_codes import ErrorCode
from tests.toy.purse import CREDIT, FORGET, SERDE, TOPIC, Fill, PurseShard, Transfer

PARTITIONS: Final = 5
PURSES: Final = Kind(TOPIC, SERDE, PARTITIONS, key_type=45)
FILL: Final = WriteOperation("purse-fill", PurseShard.fill)
TRANSFER: Final = WriteOperation("purse-transfer", PurseShard.transfer)
ASKED: Final = (
    asked(CREDIT, WriteOperation(CREDIT.name, PurseShard.credit)),
    asked(FORGET, WriteOperation(FORGET.name, PurseShard.forget)),
)
_OPERATIONS: Final[dict[str, tuple[WriteOperation[PurseShard, Any, Any], type]]] = {
    "fill": (FILL, Fill),
    "transfer": (TRANSFER, Transfer),
}


def build(materials: Materials) -> BuildShard[PurseShard]:
    """Purses, which need nothing else."""

    def build(*, partition: int, registry: SnapshotRegistry, services: ShardServices) -> PurseShard:
        return PurseShard(registry=registry, outbox=services.outbox, executor=services.executor)

    return build


async def answer_purses(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """``{"op": "__toy_purses", "shards": ["__toy_purses-3"], "transfer": {…}}``, or ``"fill"``;
    with neither, what the shards hold.
    """
    runtime: CoordinatorRuntime[PurseShard] = node.runtimes[TOPIC]
    partitions = [int(shard.rpartition("-")[2]) for shard in request["shards"]]
    for name, (operation, type_) in _OPERATIONS.items():
        if name in request:
            outcome: asyncio.Future[object] = asyncio.get_running_loop().create_future()
            reply = CallbackReply(outcome.set_result, lambda error, _: outcome.set_exception(Refusal(ErrorCode(error).name)))  # noqa: B023
            asked: Any = msgspec.convert(request[name], type_)
            runtime.write(partitions[0], operation, node.ourselves, asked, reply)
            await outcome
            return {}
    return {"purses": {f"{TOPIC}-{partition}": runtime.read(partition, state_of) for partition in partitions}}


def state_of(shard: PurseShard, committed_offset: int) -> dict[str, Any]:
    """What a shard holds."""
    summed = shard.summed(committed_offset)
    return {
        "purses": shard.purses(committed_offset),
        "under_way": {key: value.amount for key, value in shard.under_way(committed_offset).items() if not value.is_credited},
        "open": sorted(shard.under_way(committed_offset)),
        "arrived": sorted(shard.arrived(committed_offset)),
        "changed_at": shard.changed_at(committed_offset),
        "sum": None if summed is None else {"as_of": summed.as_of, "amount": summed.amount},
    }


PURSES_BUILDER: Final = Builder(build, asked=ASKED)


class PurseState:
    """What the pipeline knows of a purse log: the state that it comes to."""

    noun: Final = "purses"

    def __init__(self) -> None:
        self.shard = PurseShard(registry=SnapshotRegistry(), outbox=NO_EFFECTS, executor=NO_EFFECTS)
        self._replay = BatchReplay(SERDE, self.shard).replay

    def __len__(self) -> int:
        return len(self.shard.purses(LATEST))

    def replay(self, batch: bytes, upto: int = LATEST, /) -> int:
        return self._replay(batch, upto)

    def digest(self) -> StateDigest:
        return self.shard.digest(LATEST, with_parts=True)

    def label(self, part: str, /) -> str:
        return part

    def contents(self) -> dict[str, dict[str, Any]]:
        return {name: {"amount": amount} for name, amount in self.shard.purses(LATEST).items()}

    def shown(self, changes: LastChanges | None, names: NamesOfTopics, /) -> dict[str, Any]:
        return {"contents": self.contents()}


PURSES_RULE: Final = Rule(PURSES, PurseState, Keyed())
