"""The nodes of a cluster as one of them sees them: the present view, and this node's place in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.server.cluster.view import NO_NODE, Endpoint, Owner, View


class Place(NamedTuple):
    """The position of this loop among a server's loops. ``serving`` are the loops that serve already.

    Each new process of this loop has a greater ``incarnation``.
    """

    loop: int
    view: View
    serving: tuple[int, ...] = ()
    incarnation: int = 1


class Nodes:
    """The view that node ``node_id`` has. All parts of a loop share one ``Nodes``, so that all change to a new view at once."""

    __slots__ = ("_next", "id", "loop", "view")

    def __init__(self, node_id: int, view: View) -> None:
        self.id = node_id
        self.loop = view.node(node_id).loop
        self.view = view
        # Who is about to own a shard, by the epoch of the owner that gives it away.
        self._next: dict[ShardId, Owner] = {}

    def replace(self, view: View) -> bool:
        """Use a newer view. Return whether it is newer than the present one."""
        if view.version <= self.view.version:
            return False
        self.view = view
        return True

    def give(self, shard: ShardId, owner: Owner) -> None:
        """Note the owner of a shard before the view of all nodes has it: this node has taken it, or is about to release it."""
        self.view = replace(self.view, owners={**self.view.owners, shard: owner})

    def expect(self, to: int, shards: Iterable[Ownership]) -> None:
        """Note that a node is about to own shards, whose owners at these epochs give them away."""
        self._next.update((shard, Owner(to, epoch)) for shard, epoch in shards)

    def asked_for(self, shard: ShardId) -> int:
        """Return the node that clients are to ask for a shard: its owner, or the one that is about to be; NO_NODE without any."""
        owner, following = self.view.owner_of(shard), self._next.get(shard)
        # The next owner is shown as such until it has taken the shard: the rows have it one epoch before.
        is_moving = following is not None and following.epoch >= owner.epoch - (owner.node == NO_NODE)
        return following.node if following is not None and is_moving and following.node in self.view.node_ids else owner.node

    def address_for_nodes(self, node_id: int) -> Endpoint | None:
        """Return where a different node listens for nodes, or None."""
        return next((each.for_nodes for each in self.view.nodes if each.id == node_id), None)

    @property
    def controller_id(self) -> int:
        """The id of the node that owns the catalog, or NO_NODE."""
        return self.view.controller_id

    def owns(self, shard: ShardId) -> bool:
        """Return whether this node owns a shard."""
        return self.view.owner_of(shard).node == self.id

    def endpoint(self, node_id: int, local: tuple[str, int], listener: int = 0) -> Endpoint:
        """Return the address of a node for a client that reached a listener of this node at the address ``local``.

        Raises KeyError if there is no such node.
        """
        host, port = self.view.node(node_id).listeners[listener]
        return Endpoint(host or local[0], port or local[1])
