"""The loops of one server as nodes of a cluster: ids, addresses, and what each of them owns."""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator_server.log.shards import ShardId

# The loop of partition 0, the only one of what belongs to the whole cluster: clients see it as the controller.
CONTROLLER: Final = 0


class Endpoint(NamedTuple):
    """Where clients reach a node."""

    host: str
    port: int


def loop_of(shard: ShardId, loops: int) -> int:
    """The loop that owns a shard. Of one topic's shards, no loop has two more than another."""
    return shard.partition % loops


class Nodes(NamedTuple):
    """All loops, as the one of number ``loop`` tells clients about them. Loop i has the node id ``first_id + i``.

    ``ports`` are those that the loops listen on; with one loop there need be none, since its clients have found it. ``advertised`` is
    loop 0's address for clients when that is another; the others have the ports after it.
    """

    first_id: int
    ports: tuple[int, ...] = ()
    loop: int = 0
    advertised: Endpoint | None = None

    @property
    def loops(self) -> int:
        """How many there are."""
        return len(self.ports) or 1

    @property
    def controller_id(self) -> int:
        """The node that has the cluster's own log."""
        return self.first_id + CONTROLLER

    def owns(self, shard: ShardId) -> bool:
        """Whether a shard is this loop's."""
        return loop_of(shard, self.loops) == self.loop

    def endpoint(self, loop: int, local: tuple[str, int]) -> Endpoint:
        """Where a client that reached this loop on the address ``local`` reaches the loop ``loop``."""
        if self.advertised is not None:
            return Endpoint(self.advertised.host, self.advertised.port + loop)
        return Endpoint(*local) if loop == self.loop else Endpoint(local[0], self.ports[loop])

    def leader_of(self, partition: int) -> int:
        """The node that leads a partition of a virtual topic: every loop says the same, and fetches are spread."""
        return self.first_id + partition % self.loops
