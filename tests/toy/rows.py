"""Kinds of shard that only tests have, one for each way of compaction, and purses: a row in each table, and nothing else.

``plug`` puts them into this process; ``ENVIRONMENT`` into every Python process that is started with it (site/sitecustomize.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from coordinator_server.kinds import KINDS, Kind
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.pipeline.rules import RULES, Folded, Keyed, Rule
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.runtime.services import BuildShard, ShardServices
from coordinator_server.server.control.kind_operations import KIND_OPERATIONS, NodeOperation
from coordinator_server.server.hosting.builders import BUILDERS, Builder, Materials
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.local_operation import Refusal
from protocol.error_codes import ErrorCode
from tests.toy.purse_rows import PURSES, PURSES_BUILDER, PURSES_RULE, answer_purses
from tests.toy.records import ToySerde
from tests.toy.shard import Add, ToyShard
from tests.toy.state import ToyFold, ToyState

PARTITIONS: Final = 7
KEYED: Final = Kind("__toy_keyed", ToySerde(), PARTITIONS, key_type=42)
FOLDED: Final = Kind("__toy_folded", ToySerde(), PARTITIONS, key_type=43)
ADD: Final = WriteOperation("toy-add", ToyShard.add)
ENVIRONMENT: Final = {"PYTHONPATH": str(Path(__file__).parent / "site")}


def plug() -> None:
    """Have the toys in this process."""
    for kind, (builder, operation, rule) in _ROWS.items():
        KINDS[kind.topic] = kind
        BUILDERS[kind.topic] = builder
        KIND_OPERATIONS[kind.topic] = {kind.topic: operation}
        RULES[kind.topic] = rule


def unplug() -> None:
    """Have them no more."""
    for kind in _ROWS:
        del KINDS[kind.topic], BUILDERS[kind.topic], KIND_OPERATIONS[kind.topic], RULES[kind.topic]


def _builder(kind: Kind) -> Builder:
    """A toy's row."""

    def make(materials: Materials) -> BuildShard[ToyShard]:
        def build(*, partition: int, registry: SnapshotRegistry, services: ShardServices) -> ToyShard:
            return ToyShard(registry=registry, adds=kind is FOLDED)

        return build

    return Builder(make)


def _rule(kind: Kind) -> Rule:
    """Its last records stay, or one that says what all of them come to."""
    is_folded = kind is FOLDED
    return Rule(kind, ToyState, Folded(lambda state: ToyFold(state.shard)) if is_folded else Keyed())


async def _answer_add(topic: str, node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add to a total, or, without an amount, read it.

    ``{"op": "__toy_keyed", "shards": ["__toy_keyed-3"], "name": "a", "amount": 2}`` → ``{"ok": true, "totals": {"a": 2}}``
    """
    name, runtime = str(request["name"]), node.runtimes[topic]
    partition = partition_for(name, PARTITIONS)
    if "amount" not in request:
        try:
            return {"totals": {name: runtime.read(partition, ToyShard.total, name)}}
        except CoordinatorError as why:
            raise Refusal(why.error.name) from why
    outcome: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def refused(error: ErrorCode, message: str | None) -> None:
        outcome.set_exception(Refusal(error.name))

    runtime.write(partition, ADD, node.ourselves, Add(name, request["amount"]), CallbackReply(outcome.set_result, refused))
    return {"totals": {name: await outcome}}


_ROWS: Final[dict[Kind, tuple[Builder, NodeOperation, Rule]]] = {
    KEYED: (_builder(KEYED), partial(_answer_add, KEYED.topic), _rule(KEYED)),
    FOLDED: (_builder(FOLDED), partial(_answer_add, FOLDED.topic), _rule(FOLDED)),
    PURSES: (PURSES_BUILDER, answer_purses, PURSES_RULE),
}
