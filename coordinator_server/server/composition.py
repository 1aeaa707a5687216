"""Opens the rooms of one loop's server, in the order in which they need each other.

It touches no disk, socket, task or timer: daemon.py starts and stops the rooms.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.config import Config
from coordinator_server.config.listeners import ListenerSpec, listener_specs
from coordinator_server.kinds import KINDS
from coordinator_server.log.errors import LogError
from coordinator_server.log.members import Shared
from coordinator_server.log.store import LogStore
from coordinator_server.machine.provenance import SHARD_ORIGIN
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.arrivals import WaitingArrivals
from coordinator_server.runtime.deadlines import Deadlines
from coordinator_server.runtime.executor import ExecutorQueue
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.lease import Gate
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.outbox import OutboxQueue
from coordinator_server.runtime.services import LoopServices
from coordinator_server.runtime.timers import TimerQueue
from coordinator_server.server.apis.table import served_apis
from coordinator_server.server.cluster.effects import Courier
from coordinator_server.server.cluster.handover import Handovers
from coordinator_server.server.cluster.link_transport import NodeTransports, OtherNodes
from coordinator_server.server.cluster.nodes import Nodes, Place
from coordinator_server.server.cluster.open import Cluster, NodeLinking, open_cluster
from coordinator_server.server.cluster.presence import Presence
from coordinator_server.server.cluster.shared_view import view_before_joining
from coordinator_server.server.cluster.view import ViewNode, view_of_loops
from coordinator_server.server.control.open import Control, open_control
from coordinator_server.server.environment import Environment
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.request_log import logged
from coordinator_server.server.foundation import Foundation
from coordinator_server.server.guard.open import open_guard
from coordinator_server.server.hosting.builders import Materials, build_catalog
from coordinator_server.server.hosting.node_shards import NodeShards, Sharing
from coordinator_server.server.hosting.open import Hosting, open_hosting
from coordinator_server.server.login.open import open_login
from coordinator_server.server.membership.leases import Clocks, LeaseTimes
from coordinator_server.server.metrics.loop_metrics import LoopMetrics, Observed
from coordinator_server.server.metrics.node_metrics import NodeMetrics
from coordinator_server.server.reconfiguration import Reconfiguration
from coordinator_server.server.wire.admission import Limits, connection_limits
from coordinator_server.server.wire.open import Wire, open_wire

Fatal = Callable[[LogError], None]

CATALOG_LEASES: Final = 2
"""Ratio of the catalog's lease to that of shards: a node without a controller answers until the next one."""


class Site(NamedTuple):
    """The arguments of a server. Without a ``place`` it has one loop. A node has what it ``shared`` with others.

    ``fatal`` is called when the log cannot be trusted: a write has an unknown outcome, or the catalog's replica has diverged.
    ``slow_turns`` has the number of slow turns by API.
    """

    config: Config
    data_dir: Path
    place: Place | None
    nodes: Nodes
    environment: Environment
    fatal: Fatal
    slow_turns: Mapping[str, int]
    shared: Shared | None = None

    @property
    def loops(self) -> int:
        """The number of loops."""
        return 1 if self.place is None else len(self.place.view.nodes)

    @property
    def specs(self) -> Sequence[ListenerSpec]:
        """The listeners."""
        return listener_specs(self.config, self.loops)


def nodes_of(config: Config, place: Place | None) -> Nodes:
    """Return the nodes as a loop sees them when it starts. Without a ``place`` the server has one loop."""
    if place is None:
        specs = listener_specs(config)
        return Nodes(config.node_id, view_of_loops(config.node_id, specs, [[0]] * len(specs)))
    [node_id] = [each.id for each in place.view.nodes if each.loop == place.loop]
    return Nodes(node_id, place.view)


def nodes_before_joining(config: Config, partitions: Mapping[str, int]) -> Nodes:
    """Return the nodes as one that shares a store sees them before it has joined."""
    return Nodes(config.node_id, view_before_joining(ViewNode(config.node_id, loop=config.node_id), partitions))


class Rooms(NamedTuple):
    """The rooms of a server, and what they share: the log, and the services of all shards. A node has ``shards`` of a store."""

    store: LogStore
    services: LoopServices
    wire: Wire
    cluster: Cluster
    hosting: Hosting
    metrics: LoopMetrics
    control: Control
    reconfiguration: Reconfiguration
    links: NodeTransports | None = None
    shards: NodeShards | None = None


def open_rooms(site: Site, store: LogStore) -> Rooms:
    """Open all rooms on an open log. Raises StartError."""
    config, place, nodes, environment, shared = site.config, site.place, site.nodes, site.environment, site.shared
    limits, changes = partial(_connection_limits, site, store), TopicChanges()
    gate = Gate(environment.clock.boot_ms)
    origin = SHARD_ORIGIN if config.log.log_provenance else None
    courier = Courier(store.meta.partitions, nodes, RequestContext("", "", -1, 0, origin=origin), gate)
    base = _lay_foundation(site, store, courier, gate)

    wire = open_wire(base, specs=site.specs, limits=limits(), make_acceptor=environment.make_acceptor)
    links = None if shared is None else environment.node_links(config, _others(site, store), wire.incidents)
    wire.certificates.add({} if links is None else links.certificates)
    times = LeaseTimes.of(config.cluster.broker_session_timeout_ms, config.cluster.broker_heartbeat_interval_ms)
    cluster = open_cluster(
        base,
        nodes=nodes,
        place=place,
        sockets=environment.sockets,
        courier=courier,
        build=build_catalog(_catalog_materials(base, nodes, wire, changes)),
        fatal=site.fatal,
        links=None if links is None else NodeLinking(links, CATALOG_LEASES * times.lease_ms),
    )
    guard = open_guard(base, wire, cluster)
    hosting = open_hosting(
        base,
        wire,
        cluster,
        authorizer=guard.authorizer,
        audit=guard.audit,
        changes=changes,
        retention_worker=environment.make_worker and environment.make_worker(),
        has_cleaner=place is None and environment.has_tools,
        has_sidecar=shared is None and environment.has_tools and environment.storage is None,
    )
    apis = logged(environment.alter_apis(served_apis(hosting.node)))
    sasl = open_login(base, wire, cluster, specs=site.specs, apis=apis, failed=guard.not_known)
    new_dispatcher = partial(Dispatcher, background=wire.background, has_provenance=config.log.log_provenance)
    wire.listener.serve(new_dispatcher(apis), sasl.entrances)
    guard.quotas.measure(new_dispatcher, apis)
    shards = cluster_numbers = None
    if shared is not None and links is not None and cluster.roles is not None:
        sharing = Sharing(shared, Clocks(gate.boot_ms, base.clock.wall_ms), times)
        shards = NodeShards(
            sharing=sharing,
            store=store,
            hosted=hosting.hosted,
            nodes=nodes,
            who=cluster.who,
            roles=cluster.roles,
            presence=Presence(links.purpose("presence"), cluster.who),
            handovers=Handovers(links.purpose("handover")),
            lease=hosting.lease,
            arrivals=base.services.arrivals,
            after_submit=base.services.flusher.after_submit,
        )
        cluster_numbers = NodeMetrics(shards, sharing)
    metrics = LoopMetrics(Observed(store, wire, guard.audit, hosting, apis, site.slow_turns, cluster_numbers), base.clock)
    has_socket = place is None and environment.has_tools
    control = open_control(base, wire, hosting, measured=metrics.operations, has_socket=has_socket)
    reconfiguration = Reconfiguration(config, wire.certificates, wire.listener, hosting.retention, limits, sasl)
    return Rooms(store, base.services, wire, cluster, hosting, metrics, control, reconfiguration, links, shards)


def _others(site: Site, store: LogStore) -> OtherNodes:
    return OtherNodes(store.meta.cluster_id, site.nodes.id, site.nodes.address_for_nodes)


def _lay_foundation(site: Site, store: LogStore, courier: Courier, gate: Gate) -> Foundation:
    loop, config, environment = asyncio.get_running_loop(), site.config, site.environment
    soon, clock, timers = loop.call_soon, environment.clock, TimerQueue()
    flusher, loads = Flusher(store, soon, site.fatal), LoadQueue(soon, clock)
    outbox = OutboxQueue(courier, soon, timers, clock)
    executor = ExecutorQueue(environment.start_child, soon, timers, clock)
    services = LoopServices(store, flusher, timers, clock, loads, config.log.log_provenance, outbox, executor)
    base = Foundation(loop, config, site.data_dir, store, services, gate, environment.new_uuid, environment.worker)
    Deadlines(flusher, base.timers(), config.log.offsets_commit_timeout_ms)
    if site.shared is None:
        return base
    arrivals = WaitingArrivals(gate, clock, base.timers(), config.log.offsets_commit_timeout_ms)
    return base._replace(services=services._replace(arrivals=arrivals))


def _catalog_materials(base: Foundation, nodes: Nodes, wire: Wire, changes: TopicChanges) -> Materials:
    return Materials(
        base.config,
        base.clock,
        base.new_uuid,
        wire.incidents.report,
        topic_changes=changes,
        node_ids=lambda: nodes.view.node_ids,
    )


def _connection_limits(site: Site, store: LogStore) -> Limits:
    shards = sum(store.meta.partition_count(topic) for topic in KINDS)
    return connection_limits(site.config, site.environment.open_files(), -(-shards // site.loops))
