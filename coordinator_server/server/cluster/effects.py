"""The way of a message from one shard to another: the runtime that has the shard, here or, over a link, in another loop.

Which operations of a kind other shards may ask for is part of its row in ``server/builders.py``; a message names one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec
import structlog

from coordinator_server.log.shards import ShardId
from coordinator_server.machine.outbox import Effect
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.server.cluster.nodes import Nodes, loop_of
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")

encode_effect: Final = msgspec.msgpack.Encoder().encode


class Asked(NamedTuple):
    """An operation of a kind that other shards may ask for."""

    effect: Effect[Any, Any]
    operation: WriteOperation[Any, Any, Any]


class OtherLoops(Protocol):
    """How a message gets to another loop."""

    def ask(self, loop: int, shard: ShardId, effect: Effect[Q, R], request: Q, reply: Reply[R], /) -> None:
        """Have it run an operation; what Carrier says of ``carry`` holds."""


class Courier:
    """The Carrier of a loop. ``rows`` are by effect. ``begin`` says whether a kind is in use here, and puts it to use if it is not."""

    def __init__(
        self,
        runtimes: Mapping[str, CoordinatorRuntime[Any]],
        rows: Mapping[str, Mapping[str, Asked]],
        partitions: Mapping[str, int],
        nodes: Nodes,
        context: RequestContext,
    ) -> None:
        self._runtimes = runtimes
        self._rows = rows
        self._partitions = partitions
        self._nodes = nodes
        self._context = context
        self.others: OtherLoops | None = None
        self.begin: Callable[[str], bool] = lambda _topic: True

    def locate(self, topic: str, to: int | str, /) -> ShardId:
        """The partition, or the one that a key is hashed to."""
        return ShardId(topic, to if isinstance(to, int) else partition_for(to, self._partitions[topic]))

    def carry(self, shard: ShardId, effect: Effect[Q, R], request: Q, reply: Reply[R], /) -> None:
        """Run an operation, in this loop or in another one."""
        loop = loop_of(shard, self._nodes.loops)
        if not self.begin(shard.topic):
            reply.fail(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{shard.topic} is not in use yet")
        elif loop == self._nodes.loop:
            self.run(shard, effect.name, request, reply)
        else:
            assert self.others is not None, f"{shard} is another loop's, and there is none"
            self.others.ask(loop, shard, effect, request, reply)

    def run(self, shard: ShardId, name: str, request: Any, reply: Reply[Any]) -> None:
        """Run an operation of a shard of this loop."""
        operation = self._rows[shard.topic][name].operation
        self._runtimes[shard.topic].write(shard.partition, operation, self._context, request, reply)

    def effect(self, topic: str, name: str) -> Effect[Any, Any]:
        """The effect that a message names."""
        return self._rows[topic][name].effect
