"""Who owns each shard, and where the nodes are: one immutable value, the same in all nodes that have its version.

    View      version, nodes, owners: replaced as a whole, and never changed
    Nodes     the view that this node has at the moment (nodes.py): whatever depends on an owner asks it

The loops of one server have the view of ``view_of_loops``. It changes when a shard moves. Nothing outside this module computes an
owner, a node id or a port.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.config.listeners import ListenerSpec, bracketed
from coordinator_server.kinds import CATALOG
from coordinator_server.log.opening import MovedShards
from coordinator_server.log.shards import ShardId, shard_named
from coordinator_server.server.cluster.epochs import FIRST_EPOCH

CATALOG_SHARD: Final = ShardId(CATALOG.topic, 0)
"""The only shard of the catalog. Its owner is the controller."""
NO_NODE: Final = -1
"""The owner of a shard that has none at the moment; Kafka's leader id for it."""


class Endpoint(NamedTuple):
    """The address of a node for clients."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{bracketed(self.host)}:{self.port}"


AS_REACHED: Final = Endpoint("", 0)
"""The address at which a client has reached this node."""


class Owner(NamedTuple):
    """The node that owns a shard, or NO_NODE. Each owner of a shard has a greater ``epoch`` than the one before."""

    node: int
    epoch: int

    @property
    def leader_epoch(self) -> int:
        """The leader epoch of the shard's partition, which is 0 before its first move."""
        return self.epoch - FIRST_EPOCH


class Leader(NamedTuple):
    """The leader of a partition as clients see it. ``node`` may be NO_NODE."""

    node: int
    leader_epoch: int


class ViewNode(NamedTuple):
    """A node. ``listeners`` has its address for clients, by listener: host "" or port 0 is the one that a client has reached.

    ``loop`` is its number among the loops of its machine, or its id where each machine has one. Each new process of a node has a
    greater ``incarnation``. ``for_nodes`` is where other nodes reach it.
    """

    id: int
    listeners: tuple[Endpoint, ...] = (AS_REACHED,)
    loop: int = 0
    incarnation: int = 1
    for_nodes: Endpoint | None = None


class View(Struct, frozen=True):
    """The nodes by id, and the owners of shards. A later view has a greater ``version``.

    A shard that is not in ``owners`` has not moved. Such shards, and the partitions of topics that have no log, are distributed
    evenly over the nodes.
    """

    version: int
    nodes: tuple[ViewNode, ...]
    owners: Mapping[ShardId, Owner] = {}

    def owner_of(self, shard: ShardId) -> Owner:
        """Return the owner of a shard, or the leader of a partition of a virtual topic."""
        owner = self.owners.get(shard)
        if owner is None:
            nodes = self.nodes
            owner = Owner(nodes[shard.partition % len(nodes)].id, FIRST_EPOCH)
        return owner

    def leaders(self, topic: str, partitions: range) -> list[Leader]:
        """Return the leaders of partitions of a topic: for many partitions this is faster than ``owner_of`` for each."""
        unmoved, count = [Leader(each.id, 0) for each in self.nodes], len(self.nodes)
        if not self.owners:
            return [unmoved[partition % count] for partition in partitions]
        moved = [self.owners.get(ShardId(topic, each)) for each in partitions]
        return [
            unmoved[partition % count] if owner is None else Leader(owner.node, owner.leader_epoch)
            for partition, owner in zip(partitions, moved, strict=True)
        ]

    @property
    def controller_id(self) -> int:
        """The id of the node that owns the catalog, or NO_NODE."""
        return self.owner_of(CATALOG_SHARD).node

    @property
    def node_ids(self) -> list[int]:
        """The ids of all nodes, in ascending order."""
        return [each.id for each in self.nodes]

    def node(self, node_id: int) -> ViewNode:
        """Return the node of an id. Raises KeyError."""
        for each in self.nodes:
            if each.id == node_id:
                return each
        raise KeyError(node_id)

    def loop_of(self, shard: ShardId) -> int:
        """Return the number of the loop that owns a shard, where all nodes are loops of one machine.

        Raises KeyError if it has no owner.
        """
        return self.node(self.owner_of(shard).node).loop

    @property
    def controller(self) -> int:
        """The number of the loop that owns the catalog, where all nodes are loops of one machine."""
        return self.loop_of(CATALOG_SHARD)


def view_of_loops(
    first_id: int, specs: Sequence[ListenerSpec], ports: Sequence[Sequence[int]], moved: MovedShards | None = None
) -> View:
    """Return the view of a server's loops. ``ports`` has the bound port of each loop, for each of the listeners ``specs``.

    Loop i has the node id ``first_id + i``, and the i-th port after an advertised one. The shards in ``moved`` are where they were,
    if there were as many loops; otherwise they are distributed like all others, in their next epochs. What is written down has to
    say so before a loop starts: each start with another number counts on.
    """
    nodes = []
    for loop, bound in enumerate(zip(*ports, strict=True)):
        listeners = tuple(
            Endpoint("", port) if spec.advertised is None else Endpoint(spec.advertised[0], spec.advertised[1] + loop)
            for spec, port in zip(specs, bound, strict=True)
        )
        nodes.append(ViewNode(first_id + loop, listeners, loop))
    view = View(1, tuple(nodes))
    if moved is None:
        return view
    is_same = moved.loops == len(nodes)
    owners = {}
    for shard, (loop, epoch) in ((shard_named(name), owner) for name, owner in moved.owners.items()):
        owners[shard] = Owner(nodes[loop].id if is_same else view.owner_of(shard).node, epoch if is_same else epoch + 1)
    return View(moved.version + 1, tuple(nodes), owners)


def moved_shards(view: View) -> MovedShards:
    """Return what is written down of a view of loops."""
    owners = {str(shard): (view.loop_of(shard), owner.epoch) for shard, owner in view.owners.items()}
    return MovedShards(view.version, len(view.nodes), owners)
