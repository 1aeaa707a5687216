"""Delivery of messages between shards: to a runtime of this loop, or over a link to a different loop.

The row of a kind in ``server/hosting/builders.py`` lists the operations that messages may run. A message names one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec
import structlog

from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.machine.outbox import Effect
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.runtime.lease import NO_GATE, Gate
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.server.cluster.epochs import Epochs
from coordinator_server.server.cluster.nodes import Nodes
from coordinator_server.server.cluster.view import NO_NODE
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")

encode_effect: Final = msgspec.msgpack.Encoder().encode


class Run(Protocol):
    """Runs what a message asks for on a partition's shard."""

    def __call__(
        self, runtime: CoordinatorRuntime[Any], partition: int, context: RequestContext, request: Any, reply: Reply[Any], /
    ) -> None: ...


class Asked(NamedTuple):
    """What messages from other shards may run on the shards of a kind."""

    effect: Effect[Any, Any]
    run: Run


def asked(effect: Effect[Any, Any], operation: WriteOperation[Any, Any, Any]) -> Asked:
    """Return the row of a write operation."""

    def run(
        runtime: CoordinatorRuntime[Any], partition: int, context: RequestContext, request: Any, reply: Reply[Any], /
    ) -> None:
        runtime.write(partition, operation, context, request, reply)

    return Asked(effect, run)


class OtherLoops(Protocol):
    """The transport of messages to other loops."""

    @property
    def in_flight(self) -> int:
        """The number of messages without an answer."""

    def ask(
        self, loop: int, sender: Ownership | None, to: Ownership, effect: Effect[Q, R], request: Q, reply: Reply[R], /
    ) -> None:
        """Run an operation on a shard of a different loop, under the rules of ``Carrier.carry``."""


class Destinations(NamedTuple):
    """The shards of a loop, as messages find them.

    ``rows`` are by topic and name of the effect. ``begin`` returns whether a kind is in use here, and starts its use if not.
    """

    runtimes: Mapping[str, CoordinatorRuntime[Any]]
    rows: Mapping[str, Mapping[str, Asked]]
    begin: Callable[[str], bool]


class Courier:
    """The Carrier of a loop. Before the first message it needs ``deliver_to``, and with several loops ``connect``."""

    def __init__(self, partitions: Mapping[str, int], nodes: Nodes, context: RequestContext, gate: Gate = NO_GATE) -> None:
        self._partitions = partitions
        self._nodes = nodes
        self._context = context
        self._gate = gate
        self._here: Destinations
        self._others: OtherLoops | None = None
        self.epochs = Epochs(lambda: nodes.view.owners)
        # No message is sent to another loop (server/control/cut.py).
        self.is_held = False

    def deliver_to(self, here: Destinations) -> None:
        """Run what messages ask of this loop's shards."""
        self._here = here

    def connect(self, others: OtherLoops) -> None:
        """Send messages for other loops' shards this way."""
        self._others = others

    def locate(self, topic: str, to: int | str, /) -> ShardId:
        """Return the shard of a partition, or of a key, which is hashed to a partition."""
        return ShardId(topic, to if isinstance(to, int) else partition_for(to, self._partitions[topic]))

    def carry(self, sender: Ownership | None, shard: ShardId, effect: Effect[Q, R], request: Q, reply: Reply[R], /) -> None:
        """Run an operation on a shard of this loop or of a different loop."""
        owner = self._nodes.view.owner_of(shard)
        if not self._here.begin(shard.topic):
            reply.fail(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{shard.topic} is not in use yet")
        elif owner.node == self._nodes.id:
            own = self._here.runtimes[shard.topic].ownership(shard.partition)
            self.run(sender, own or self._newest(shard), effect.name, request, reply)
        elif owner.node == NO_NODE:
            reply.fail(ErrorCode.NOT_COORDINATOR, f"{shard} has no owner now")
        elif sender is not None and not self.epochs.note(sender):
            reply.fail(ErrorCode.NOT_COORDINATOR, f"{sender} has a later owner")
        elif self.is_held:
            reply.fail(ErrorCode.COORDINATOR_NOT_AVAILABLE, "the loops say for a moment where each of them is")
        else:
            assert self._others is not None, f"{shard} is another loop's, and there is none"
            self._others.ask(self._nodes.view.node(owner.node).loop, sender, self._newest(shard), effect, request, reply)

    def _newest(self, shard: ShardId) -> Ownership:
        return Ownership(shard, self.epochs.newest(shard))

    @property
    def in_flight(self) -> int:
        """The number of messages to other loops that have no answer."""
        return 0 if self._others is None else self._others.in_flight

    def run(self, sender: Ownership | None, to: Ownership, name: str, request: Any, reply: Reply[Any]) -> None:
        """Run an operation on a shard of this loop, unless a different owner of it is meant, or the sender has a later one."""
        if self._gate.is_limited:
            self._gate.look()
        shard, runtime = to.shard, self._here.runtimes[to.shard.topic]
        own = runtime.ownership(shard.partition)
        if own is not None and own != to:
            self.epochs.note(own)
        is_meant = self.epochs.note(to) and (own is None or own == to)
        is_sender_current = sender is None or self.epochs.note(sender)
        if is_meant and is_sender_current:
            self._here.rows[shard.topic][name].run(runtime, shard.partition, self._context, request, reply)
        else:
            late = sender if is_meant else to
            reply.fail(ErrorCode.NOT_COORDINATOR, f"{late} is not the owner that {self._nodes.loop} knows")

    def effect(self, topic: str, name: str) -> Effect[Any, Any]:
        """Return the effect of this name."""
        return self._here.rows[topic][name].effect
