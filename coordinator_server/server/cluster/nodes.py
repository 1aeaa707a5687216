"""The loops of one server as nodes of a cluster: ids, addresses, and the shards that each owns."""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator_server.config.listeners import bracketed
from coordinator_server.log.shards import ShardId

# The loop that owns partition 0, the only partition of the catalog. Clients see it as the controller.
CONTROLLER: Final = 0


class Endpoint(NamedTuple):
    """The address of a node for clients."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{bracketed(self.host)}:{self.port}"


def loop_of(shard: ShardId, loops: int) -> int:
    """Return the loop that owns a shard. The shards of a topic are evenly distributed over the loops."""
    return shard.partition % loops


class Place(NamedTuple):
    """The position of this loop among a server's loops. ``ports`` has a listener's port of each loop, for each listener.
    ``serving`` are the loops that serve already.

    Each new process of this loop has a greater ``incarnation``.
    """

    loop: int
    ports: tuple[tuple[int, ...], ...]
    serving: tuple[int, ...] = ()
    incarnation: int = 1


class ListenerPorts(NamedTuple):
    """The ports of one listener by loop; with one loop it may be empty, because clients already know the port.

    ``advertised`` is loop 0's address for clients if it differs from the listening address; the other loops have the
    following ports.
    """

    ports: tuple[int, ...] = ()
    advertised: Endpoint | None = None


class Nodes(NamedTuple):
    """All loops as nodes, as seen from loop ``loop``. Loop i has the node id ``first_id + i``."""

    first_id: int
    loops: int = 1
    loop: int = 0
    listeners: tuple[ListenerPorts, ...] = (ListenerPorts(),)

    @property
    def id(self) -> int:
        """The node id of this loop."""
        return self.first_id + self.loop

    @property
    def controller_id(self) -> int:
        """The id of the node that owns the catalog."""
        return self.first_id + CONTROLLER

    def owns(self, shard: ShardId) -> bool:
        """Return whether this loop owns a shard."""
        return loop_of(shard, self.loops) == self.loop

    def endpoint(self, loop: int, local: tuple[str, int], listener: int = 0) -> Endpoint:
        """Return the address of a loop for a client that reached a listener of this loop at the address ``local``."""
        ports, advertised = self.listeners[listener]
        if advertised is not None:
            return Endpoint(advertised.host, advertised.port + loop)
        return Endpoint(*local) if loop == self.loop else Endpoint(local[0], ports[loop])

    def leader_of(self, partition: int) -> int:
        """Return the leader of a partition of a virtual topic. Equal in every loop; it distributes the fetches."""
        return self.first_id + partition % self.loops
