"""Creates and connects the objects of one loop's server. It touches no disk, socket, task or timer: daemon.py runs the objects.

They are created in the order of their dependencies: the log, the runtimes of the served kinds, the catalog, the node that
handlers work with, the listener, the tools.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS
from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.config import Config
from coordinator_server.config.listeners import listener_specs
from coordinator_server.group.common.settings import SettingsOf, SettingsOfGroups
from coordinator_server.kinds import CATALOG, GROUPS, KINDS, SHARE_STATE, TRANSACTIONS
from coordinator_server.log.errors import LogError
from coordinator_server.log.store import LogStore, Removed, Retention, RetentionRule
from coordinator_server.machine.provenance import SHARD_ORIGIN
from coordinator_server.machine.shard import CoordinatorTimer, Reply, RequestContext, report_nothing
from coordinator_server.machine.steady_clock import SteadyClock
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.deadlines import Deadlines
from coordinator_server.runtime.executor import ExecutorQueue
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.outbox import OutboxQueue
from coordinator_server.runtime.producers import ProducerTimes
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.runtime.services import LoopServices, following
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from coordinator_server.security.authorizer import Authorizer
from coordinator_server.server.apis.table import served_apis
from coordinator_server.server.cluster.catalog import PARTITION, OwnCatalog
from coordinator_server.server.cluster.catalog_feed import FeedClient, FeedServer
from coordinator_server.server.cluster.catalog_replica import CatalogReplica
from coordinator_server.server.cluster.effects import Courier
from coordinator_server.server.cluster.neighbours import Identity, Neighbours
from coordinator_server.server.cluster.nodes import CONTROLLER, Endpoint, ListenerPorts, Nodes
from coordinator_server.server.cluster.operations import ALLOCATE_PRODUCER_IDS, CREATE_INTERNAL_TOPIC
from coordinator_server.server.control.control_socket import ControlSocket
from coordinator_server.server.control.described_loops import OnlyLoop
from coordinator_server.server.control.loop_operations import control_operations, seal
from coordinator_server.server.control.pipeline_reports import PipelineReports
from coordinator_server.server.control.refused_commits import answer_refused_commits
from coordinator_server.server.control.status import Status
from coordinator_server.server.environment import Environment
from coordinator_server.server.exchange.api_row import ApiRow, observed
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.request_log import RequestLine
from coordinator_server.server.exchange.steps import Steps
from coordinator_server.server.guard.audit import Audit
from coordinator_server.server.guard.authorization import authorizer_of, follow_acls
from coordinator_server.server.guard.client_quotas import ClientQuotas
from coordinator_server.server.guard.metering import Metering
from coordinator_server.server.guard.request_quotas import Meter, RequestQuotas
from coordinator_server.server.hosting.builders import BUILDERS, Builder, Materials, build_catalog
from coordinator_server.server.hosting.cleaner import Cleaner
from coordinator_server.server.hosting.family_news import FamilyNews
from coordinator_server.server.hosting.fetching import Fetches
from coordinator_server.server.hosting.group_counts import GroupCounts
from coordinator_server.server.hosting.group_news import GroupNews
from coordinator_server.server.hosting.hosted import Hosted
from coordinator_server.server.hosting.internal_topics import InternalTopics
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.hosting.producer_ids import ProducerIds
from coordinator_server.server.hosting.share_sessions import ShareSessions
from coordinator_server.server.hosting.share_shards import ShareShards
from coordinator_server.server.hosting.timers import LoopTimers
from coordinator_server.server.hosting.topic_deletions import TopicDeletions
from coordinator_server.server.hosting.topic_image import LoopTopics
from coordinator_server.server.local_operation import Operation
from coordinator_server.server.login.login import BEFORE_LOGIN
from coordinator_server.server.login.sasl_listeners import SaslListeners, SaslMaterials
from coordinator_server.server.metrics.loop_metrics import LoopMetrics, Observed
from coordinator_server.server.reconfiguration import Reconfiguration, kept_history
from coordinator_server.server.wire.admission import Limits as ConnectionLimits
from coordinator_server.server.wire.admission import connection_limits, limits_of_listener
from coordinator_server.server.wire.background import Background
from coordinator_server.server.wire.certificates import Certificates, read_certificates
from coordinator_server.server.wire.episodes import Episodes
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.listener import EntranceServices, Listener, ListenerServices
from coordinator_server.server.wire.sampled_rate import client_windows
from coordinator_server.server.wire.turns import Turns
from coordinator_server.worker import ThreadWorker, Worker
from protocol.messages.cluster_metadata import ProducerIdsRecord, TopicRecord

if TYPE_CHECKING:
    from coordinator_server.security.tls import ListenerTls

log = structlog.get_logger(__name__)

Fatal = Callable[[LogError], None]


class Place(NamedTuple):
    """The position of this loop among a server's loops. ``ports`` has a listener's port of each loop, for each listener.
    ``serving`` are the loops that serve already.

    Each new process of this loop has a greater ``incarnation``.
    """

    loop: int
    ports: tuple[tuple[int, ...], ...]
    serving: tuple[int, ...] = ()
    incarnation: int = 1


class Site(NamedTuple):
    """The arguments of a server. Without a ``place`` it has one loop.

    ``fatal`` is called when the log cannot be trusted: a write has an unknown outcome, or the catalog's replica has diverged.
    """

    config: Config
    data_dir: Path
    place: Place | None
    environment: Environment
    fatal: Fatal

    @property
    def nodes(self) -> Nodes:
        """The loops as nodes, in the form that clients get."""
        specs, place = listener_specs(self.config, self.loops), self.place
        advertised = [None if spec.advertised is None else Endpoint(*spec.advertised) for spec in specs]
        ports = place.ports if place is not None else [()] * len(specs)
        return Nodes(
            self.config.node_id, self.loops, 0 if place is None else place.loop, tuple(map(ListenerPorts, ports, advertised))
        )

    @property
    def loops(self) -> int:
        """The number of loops."""
        return 1 if self.place is None else len(self.place.ports[0])


class HandlerServices(NamedTuple):
    """What the handlers of a loop share besides its shards and its catalog."""

    producer_ids: ProducerIds
    steps: Steps
    courier: Courier
    group_settings: SettingsOf
    authorizer: Authorizer | None
    audit: Audit


class Parts(NamedTuple):
    """The objects of a server.

    A server with one loop has ``control.sock`` and the cleaner. With several loops the supervisor has both.
    """

    store: LogStore
    flusher: Flusher
    executor: ExecutorQueue
    retention: Retention
    timers: LoopTimers
    hosted: Hosted
    catalog: OwnCatalog | CatalogReplica
    feed: FeedServer | FeedClient | None
    neighbours: Neighbours | None
    deletions: TopicDeletions
    family_news: FamilyNews
    turns: Turns
    background: Background
    node: Node
    listener: Listener
    certificates: Certificates
    reconfiguration: Reconfiguration
    metrics: LoopMetrics
    operations: dict[str, Operation]
    control: ControlSocket | None
    cleaner: Cleaner | None


def compose(site: Site, store: LogStore) -> Parts:
    """Create the objects of a server on an open log."""
    loop, config = asyncio.get_running_loop(), site.config
    builders = {topic: BUILDERS[topic] for topic in KINDS}
    runtimes: dict[str, CoordinatorRuntime[Any]] = {}
    courier = _courier(site, store, runtimes, builders)
    services, executor = _services(site, store, courier)
    episodes = Episodes(services.clock.now_ms)
    incidents, audit = Incidents(episodes), Audit(services.clock.now_ms, episodes)
    producer_ids = ProducerIds(
        site.nodes.id, lambda request, reply: _allocate(node, request, reply), services.clock.now_ms, loop.call_later
    )
    group_counts = _group_counts(config, services)
    topics = LoopTopics()
    group_settings = SettingsOfGroups(config, topics.settings, incidents.report)
    authorizer = authorizer_of(config)
    materials = Materials(
        config,
        services.clock,
        site.environment.new_uuid,
        incidents.report,
        group_counts.tell,
        producer_ids.take,
        topics,
        topics.changes,
        group_settings,
        ShareShards(store.meta.partition_count(SHARE_STATE.topic)),
        None if authorizer is None else authorizer.describable,
    )
    runtimes.update({topic: _runtime(topic, builder, materials, services) for topic, builder in builders.items()})
    hosted = Hosted(runtimes, store.meta.partitions, site.nodes.owns, loop)
    catalog, feed = _catalog(site, services, runtimes[CATALOG.topic], topics.changes)
    turns, background = Turns(loop.call_soon), Background(_thread(site, "large-messages-stopped"), loop.call_soon_threadsafe)
    node: Node = _node(
        site,
        store,
        services,
        hosted,
        catalog,
        HandlerServices(producer_ids, Steps(turns), courier, group_settings, authorizer, audit),
    )
    deletions = _deletions(runtimes, builders, node)
    topics.begin(catalog, node.internal, partial(_tell_changed, runtimes, builders))
    family_news = _follow_catalog(catalog, topics, hosted, deletions)
    courier.begin = partial(_begin_kind, hosted, node)
    status = Status(node, hosted, store, incidents, services.clock)
    operations = control_operations(hosted, store, node, status)
    follow_acls(authorizer, catalog, family_news, audit)
    apis = _logged(site.environment.alter_apis(served_apis(node)))
    new_dispatcher = partial(Dispatcher, background=background, has_provenance=config.log.log_provenance)
    tls = read_certificates(config, listener_specs(config, site.loops))
    sasl = SaslListeners(
        config,
        listener_specs(config, site.loops),
        SaslMaterials(
            catalog,
            store.login_key,
            family_news,
            turns.queue,
            _timers(services),
            services.clock,
            _before_login(apis, background),
            lambda: listener.dispatch,
            partial(_not_known, incidents, audit),
        ),
    )
    listener_services = _listener_services(site, services, store, incidents, _entrances(site, tls, sasl))
    listener = Listener(loop, config, new_dispatcher(apis), turns, background, listener_services)
    family_news.follow(
        CLIENT_QUOTAS, ClientQuotas(catalog, listener, _metering(config, services, background), new_dispatcher, apis).changed
    )
    certificates = Certificates(tls, services.clock, listener_services.timers)
    metrics = LoopMetrics(
        node, Observed(hosted, store, apis, incidents, listener, certificates, group_counts, audit), services.clock
    )
    operations |= metrics.operations | {"refused-commits": partial(answer_refused_commits, group_counts.refused_commits)}
    retention = _retention(site, store)
    reconfiguration = Reconfiguration(config, certificates, listener, retention, partial(_connection_limits, site, store), sasl)
    status.listener, status.certificates = listener, certificates
    control, cleaner = _tools(site, store, operations, OnlyLoop(site.config, site.nodes.id, hosted, listener))
    return Parts(
        store,
        services.flusher,
        executor,
        retention,
        LoopTimers(loop, services.timers, services.clock),
        hosted,
        catalog,
        feed,
        _neighbours(site, courier),
        deletions,
        family_news,
        turns,
        background,
        node,
        listener,
        certificates,
        reconfiguration,
        metrics,
        operations,
        control,
        cleaner,
    )


def _group_counts(config: Config, services: LoopServices) -> GroupCounts:
    """Return the counts, which pass on what has lines in the server's log."""
    news = GroupNews(services.clock.now_ms).tell if config.log.log_rebalances else report_nothing
    return GroupCounts(news, services.clock.wall_ms)


def _tools(
    site: Site, store: LogStore, operations: dict[str, Operation], only: OnlyLoop
) -> tuple[ControlSocket | None, Cleaner | None]:
    """Return what a server with one loop has beside it."""
    if site.place is not None or not site.environment.has_tools:
        return None, None
    cleaner = Cleaner(site.config.live, site.data_dir, partial(seal, store))
    return ControlSocket(site.data_dir, operations | PipelineReports(cleaner.report).operations | only.operations), cleaner


def _deletions(runtimes: Mapping[str, CoordinatorRuntime[Any]], builders: Mapping[str, Builder], node: Node) -> TopicDeletions:
    deleting = {topic: builder.topics_deleted for topic, builder in builders.items() if builder.topics_deleted is not None}
    return TopicDeletions(runtimes, deleting, node.ourselves)


def _metering(config: Config, services: LoopServices, background: Background) -> Metering:
    """Return what measures requests while there are quotas."""
    return Metering(Meter(RequestQuotas(client_windows(config), services.clock.now_ms), _timers(services)), background)


def _services(site: Site, store: LogStore, courier: Courier) -> tuple[LoopServices, ExecutorQueue]:
    soon, clock, timers = asyncio.get_running_loop().call_soon, site.environment.clock, TimerQueue()
    flusher, loads = Flusher(store, soon, site.fatal), LoadQueue(soon, clock)
    outbox = OutboxQueue(courier, soon, timers, clock)
    executor = ExecutorQueue(site.environment.start_child, soon, timers, clock)
    services = LoopServices(store, flusher, timers, clock, loads, site.config.log.log_provenance, outbox, executor)
    Deadlines(flusher, _timers(services), site.config.log.offsets_commit_timeout_ms)
    return services, executor


def _runtime(topic: str, builder: Builder, materials: Materials, services: LoopServices) -> CoordinatorRuntime[Any]:
    settings = builder.settings(materials.config)
    return CoordinatorRuntime(
        topic,
        KINDS[topic].serde,
        builder.shard(materials),
        services,
        max_batch_bytes=materials.config.log.message_max_bytes,
        append_linger_ms=settings.append_linger_ms,
        coalesces=settings.coalesces,
        has_deadlines=topic != CATALOG.topic,
        producer_times=ProducerTimes(
            materials.config.transactions.producer_id_expiration_ms,
            materials.config.transactions.producer_id_expiration_check_interval_ms,
        ),
    )


def _courier(
    site: Site, store: LogStore, runtimes: Mapping[str, CoordinatorRuntime[Any]], builders: Mapping[str, Builder]
) -> Courier:
    rows = {topic: {row.effect.name: row for row in builder.asked} for topic, builder in builders.items()}
    context = RequestContext("", "", -1, 0, origin=SHARD_ORIGIN if site.config.log.log_provenance else None)
    return Courier(runtimes, rows, store.meta.partitions, site.nodes, context)


def _neighbours(site: Site, courier: Courier) -> Neighbours | None:
    """Return the links to the other loops, or None if the server has one loop."""
    if site.place is None:
        return None
    identity = Identity(site.place.loop, site.place.incarnation)
    courier.others = neighbours = Neighbours(identity, site.data_dir, site.environment.sockets, courier)
    return neighbours


def _begin_kind(hosted: Hosted, node: Node, topic: str) -> bool:
    """Return whether a kind is in use. If not, create its topic, as the first client request does."""
    if hosted.is_used(topic):
        return True
    [wanted] = [each for each in node.internal.on_demand() if each.name == topic]
    # The outcome is ignored: the sender retries.
    reply = CallbackReply(lambda _: None, lambda _error, _message: None)
    node.catalog.write(CREATE_INTERNAL_TOPIC, node.ourselves, TopicRecord(wanted.name, wanted.topic_id), reply)
    return False


def _follow_catalog(
    catalog: OwnCatalog | CatalogReplica, topics: LoopTopics, hosted: Hosted, deletions: TopicDeletions
) -> FamilyNews:
    """Connect the catalog's notices with all that follows them. Return what notifies of users, ACLs and quotas."""
    family_news = FamilyNews(catalog)

    def changed() -> None:
        hosted.use_listed(catalog.topic)
        topics.changed()
        family_news.changed()

    def deleted(gone: Sequence[DeletedTopic]) -> None:
        topics.forget(gone)
        deletions.tell(gone)
        topics.deleted(gone)

    catalog.on_changed, catalog.on_deleted = changed, deleted
    return family_news


def _tell_changed(
    runtimes: Mapping[str, CoordinatorRuntime[Any]], builders: Mapping[str, Builder], names: Collection[str]
) -> None:
    """Notify all loaded shards which topics have changed. A shard that loads later looks at all topics."""
    for kind, builder in builders.items():
        if builder.topics_changed is not None:
            runtimes[kind].read_all("topics-changed", builder.topics_changed, names)


def _allocate(node: Node, request: ProducerIdsRecord, reply: Reply[ProducerIdsRecord]) -> None:
    node.catalog.write(ALLOCATE_PRODUCER_IDS, node.ourselves, request, reply)


def _catalog(
    site: Site, services: LoopServices, runtime: CoordinatorRuntime[Any], changes: TopicChanges
) -> tuple[OwnCatalog | CatalogReplica, FeedServer | FeedClient | None]:
    """Return the catalog and its feed: the own catalog on loop 0 and in a server with one loop, a replica on other loops."""
    place, call_later = site.place, asyncio.get_running_loop().call_later
    if place is None:
        return OwnCatalog(runtime, services.store, call_later), None
    if place.loop == CONTROLLER:
        own = OwnCatalog(runtime, services.store, call_later, place.serving)
        return own, FeedServer(site.data_dir, site.environment.sockets, own, has_provenance=site.config.log.log_provenance)
    build = build_catalog(Materials(site.config, site.environment.clock, site.environment.new_uuid, topic_changes=changes))
    timer = ShardTimers(services.timers, services.clock, _run)
    replica = CatalogReplica(
        place.loop,
        lambda: build(partition=PARTITION, registry=SnapshotRegistry(), services=following(timer)),
        CATALOG.serde,
        call_later,
        lambda why: site.fatal(LogError(why)),
    )
    return replica, FeedClient(site.data_dir, site.environment.sockets, replica)


def _node(
    site: Site,
    store: LogStore,
    services: LoopServices,
    hosted: Hosted,
    catalog: OwnCatalog | CatalogReplica,
    shared: HandlerServices,
) -> Node:
    meta = store.meta
    delays = _timers(services)
    readers = _thread(site, "fetches-stopped")
    loop = asyncio.get_running_loop()

    def post(callback: Callable[[], None]) -> None:
        loop.call_soon_threadsafe(callback)

    return Node(
        site.config,
        meta.cluster_id,
        meta.partition_count(GROUPS.topic),
        hosted.runtimes[GROUPS.topic],
        meta.partition_count(TRANSACTIONS.topic),
        hosted.runtimes[TRANSACTIONS.topic],
        shared.producer_ids,
        hosted.runtimes,
        catalog,
        delays,
        site.nodes,
        InternalTopics(meta.cluster_id, {topic: meta.partition_count(topic) for topic in hosted.runtimes}),
        Fetches(store, services.flusher, delays, readers, post),
        shared.steps,
        shared.courier,
        ShareSessions(site.config.share.group_share_max_share_sessions, site.config.share.share_sessions_max_partitions),
        shared.group_settings,
        ShareShards(meta.partition_count(SHARE_STATE.topic)),
        hosted.runtimes[SHARE_STATE.topic],
        shared.authorizer,
        shared.audit,
    )


def _listener_services(
    site: Site,
    services: LoopServices,
    store: LogStore,
    incidents: Incidents,
    entrances: Sequence[EntranceServices],
) -> ListenerServices:
    return ListenerServices(
        services.clock,
        _timers(services),
        site.environment.make_acceptor,
        _connection_limits(site, store),
        incidents,
        entrances,
    )


def _connection_limits(site: Site, store: LogStore) -> ConnectionLimits:
    shards = sum(store.meta.partition_count(topic) for topic in KINDS)
    return connection_limits(site.config, site.environment.open_files(), -(-shards // site.loops))


def _retention(site: Site, store: LogStore) -> Retention:
    config, environment = site.config, site.environment
    worker = environment.make_worker() if environment.make_worker else None
    rule = RetentionRule(config.log.log_retention_check_interval_ms, _say_removed, SteadyClock(environment.clock).now_ms, worker)
    return store.retention(kept_history(config.live), rule)


def _thread(site: Site, event: str) -> Worker:
    """Return a thread, which logs ``event`` if a job ends it."""
    make = site.environment.make_worker
    return make() if make is not None else ThreadWorker(lambda: log.error(event))


def _entrances(site: Site, tls: Mapping[str, ListenerTls], sasl: SaslListeners) -> list[EntranceServices]:
    specs = listener_specs(site.config, site.loops)
    return [
        EntranceServices(tls.get(each.name), sasl.entrances.get(each.name), limits_of_listener(site.config, each.name))
        for each in specs
    ]


def _timers(services: LoopServices) -> CoordinatorTimer:
    """Return timers for what is not a shard."""
    return ShardTimers(services.timers, services.clock, _run)


def _before_login(apis: Sequence[ApiRow[Any, Any]], background: Background) -> Dispatcher:
    """Return the dispatcher of clients that are not known yet."""
    return Dispatcher([each for each in apis if each.key in BEFORE_LOGIN], background)


def _not_known(incidents: Incidents, audit: Audit, host: str, **fields: str) -> None:
    """Note that a client was not authenticated."""
    incidents.count("authentication-failed")
    audit.authentication_failed(host, **fields)


def _logged(apis: Sequence[ApiRow[Any, Any]]) -> Sequence[ApiRow[Any, Any]]:
    """Return rows whose requests are logged at debug level. Log lines cost more than the request."""
    return observed(apis, RequestLine) if log.is_enabled_for(logging.DEBUG) else apis


def _say_removed(removed: Removed) -> None:
    # Layers alone are copies of what a newer layer has: no history has gone.
    if removed.segments:
        log.info("history-removed", shard=str(removed.shard), layers=removed.layers, segments=removed.segments)
    elif removed.layers:
        log.info("replaced-layers-removed", shard=str(removed.shard), layers=removed.layers)
    if removed.damage is not None:
        log.warning("history-kept", shard=str(removed.shard), damage=str(removed.damage))


def _run(timer: Timer) -> None:
    timer.operation()
