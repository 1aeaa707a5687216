"""Opens the room: the catalog as this loop has it, its feed, and the links to other loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.kinds import CATALOG
from coordinator_server.log.errors import LogError
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.runtime.services import BuildShard, following
from coordinator_server.server.cluster.catalog import NO_LEASES, PARTITION, OwnCatalog
from coordinator_server.server.cluster.catalog_feed import FeedClient, FeedServer
from coordinator_server.server.cluster.catalog_replica import CatalogReplica
from coordinator_server.server.cluster.catalog_roles import RoledCatalog
from coordinator_server.server.cluster.effects import Courier
from coordinator_server.server.cluster.family_news import FamilyNews
from coordinator_server.server.cluster.followers import Leasing
from coordinator_server.server.cluster.link_transport import LinkTransport, NodeTransports, UnixLinks
from coordinator_server.server.cluster.neighbours import Identity, Neighbours
from coordinator_server.server.cluster.nodes import Nodes, Place
from coordinator_server.server.cluster.unix import Sockets
from coordinator_server.server.cluster.view import CATALOG_SHARD, NO_NODE
from coordinator_server.server.foundation import Foundation


class NodeLinking(NamedTuple):
    """How a node is linked to others, and how long they may answer from the catalog without its owner."""

    transports: NodeTransports
    lease_ms: int


class Cluster(NamedTuple):
    """The room of several loops, or nodes. With one loop there are no ``neighbours`` and no ``roles``, which else are the catalog.

    ``runtime`` has the catalog's shard on the loop that owns it, and no shard on other loops. ``who`` is this loop or node, as the
    others know it.
    """

    nodes: Nodes
    courier: Courier
    neighbours: Neighbours | None
    runtime: CoordinatorRuntime[CatalogShard]
    catalog: OwnCatalog | RoledCatalog
    roles: RoledCatalog | None
    family_news: FamilyNews
    who: Identity


def open_cluster(  # noqa: PLR0913 - arguments with names
    base: Foundation,
    *,
    nodes: Nodes,
    place: Place | None,
    sockets: Sockets,
    courier: Courier,
    build: BuildShard[CatalogShard],
    fatal: Callable[[LogError], None],
    links: NodeLinking | None = None,
) -> Cluster:
    """Create the catalog: the own one in a server with one loop, one with roles in each of several, and in each node.

    ``build`` builds its shard. ``fatal`` is called when a replica has diverged. A node has ``links``.
    """
    services, data_dir, call_later = base.services, base.data_dir, base.loop.call_later
    max_batch_bytes = base.config.log.message_max_bytes
    runtime = CoordinatorRuntime(
        CATALOG.topic, CATALOG.serde, build, services, max_batch_bytes=max_batch_bytes, has_deadlines=False
    )
    feeds: LinkTransport
    effects: LinkTransport
    who = Identity(nodes.loop, 0 if place is None else place.incarnation)
    if links is not None:
        feeds, effects = links.transports.purpose("catalog"), links.transports.purpose("effects")
        leasing = Leasing(base.gate.boot_ms, links.lease_ms, base.gate.is_open)
    elif place is not None:
        feeds = UnixLinks(sockets, lambda _loop: data_dir / "cluster.sock", place.loop)
        effects = UnixLinks(sockets, lambda loop: data_dir / f"loop-{loop}.sock", place.loop)
        leasing = NO_LEASES
    else:
        own = OwnCatalog(runtime, base.store, call_later)
        return Cluster(nodes, courier, None, runtime, own, None, FamilyNews(own), who)
    own = OwnCatalog(runtime, base.store, call_later, leasing=leasing)
    timers = base.timers()
    replica = CatalogReplica(
        who,
        lambda: build(partition=PARTITION, registry=SnapshotRegistry(), services=following(timers)),
        CATALOG.serde,
        call_later,
        lambda why: fatal(LogError(why)),
        base.gate,
    )
    roles = RoledCatalog(
        own,
        replica,
        FeedServer(feeds, own, has_provenance=services.has_provenance),
        # A node that owns the catalog, and has not loaded it yet, follows nobody.
        FeedClient(feeds, replica, lambda: NO_NODE if nodes.owns(CATALOG_SHARD) else nodes.controller_id),
        lambda: {each.loop: each.incarnation for each in nodes.view.nodes if each.loop != nodes.loop},
    )
    neighbours = Neighbours(who, effects, courier)
    courier.connect(neighbours)
    return Cluster(nodes, courier, neighbours, runtime, roles, roles, FamilyNews(roles), who)
