"""Opens the room: the runtimes of all served kinds, what follows the catalog, and the node that handlers work with."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import structlog

from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.config import Config
from coordinator_server.group.common.settings import SettingsOfGroups
from coordinator_server.kinds import CATALOG, GROUPS, KINDS, SHARE_STATE, TRANSACTIONS
from coordinator_server.log.opening import log_path, store_ends
from coordinator_server.log.store import Retention
from coordinator_server.machine.shard import Clock, Reply, RequestContext, report_nothing
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.executor import ExecutorQueue
from coordinator_server.runtime.lease import Lease
from coordinator_server.runtime.producers import ProducerTimes
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.runtime.services import LoopServices
from coordinator_server.security.authorizer import Authorizer
from coordinator_server.server.cluster.catalog import Catalog, Notices
from coordinator_server.server.cluster.effects import Destinations
from coordinator_server.server.cluster.nodes import Nodes
from coordinator_server.server.cluster.open import Cluster
from coordinator_server.server.cluster.operations import ALLOCATE_PRODUCER_IDS, CREATE_INTERNAL_TOPIC
from coordinator_server.server.cluster.view import CATALOG_SHARD
from coordinator_server.server.exchange.steps import Steps
from coordinator_server.server.foundation import Foundation
from coordinator_server.server.hosting.builders import BUILDERS, Builder, Materials
from coordinator_server.server.hosting.cleaner import Cleaner
from coordinator_server.server.hosting.end_offsets import end_offsets
from coordinator_server.server.hosting.fetching import Fetches
from coordinator_server.server.hosting.group_counts import GroupCounts
from coordinator_server.server.hosting.group_news import GroupNews
from coordinator_server.server.hosting.history import HistoryLines, open_retention
from coordinator_server.server.hosting.hosted import Hosted
from coordinator_server.server.hosting.internal_topics import InternalTopics
from coordinator_server.server.hosting.moves import Moves
from coordinator_server.server.hosting.node import AuditLog, Node, server_context
from coordinator_server.server.hosting.producer_ids import ProducerIds
from coordinator_server.server.hosting.share_sessions import ShareSessions
from coordinator_server.server.hosting.share_shards import ShareShards
from coordinator_server.server.hosting.silence_files import SilenceFiles
from coordinator_server.server.hosting.silences import Silences, open_silences
from coordinator_server.server.hosting.streams_topics import StreamsTopics
from coordinator_server.server.hosting.timers import LoopTimers
from coordinator_server.server.hosting.topic_image import LoopTopics
from coordinator_server.server.hosting.topic_news import TopicNews
from coordinator_server.server.wire.open import Wire
from coordinator_server.worker import Worker
from protocol.messages.cluster_metadata import ProducerIdsRecord, TopicRecord

log = structlog.get_logger(__name__)

Runtimes = Mapping[str, CoordinatorRuntime[Any]]


class Hosting(NamedTuple):
    """The room of the shards of a loop. Only a server with one loop has a ``cleaner``: with several the supervisor has it.

    ``lease`` is that of all its shards. It does not end unless a store grants it: nobody else can take the shards of a machine.
    """

    hosted: Hosted
    node: Node
    timers: LoopTimers
    executor: ExecutorQueue | None
    topic_news: TopicNews
    group_counts: GroupCounts
    moves: Moves
    retention: Retention
    history: HistoryLines
    cleaner: Cleaner | None
    lease: Lease
    silences: Silences | None

    async def finish_loading(self) -> None:
        """Wait until every shard is loaded, and start what may change or remove files. Raises StartError."""
        await self.hosted.finish_loading()
        self.topic_news.begin()
        if self.cleaner is not None:
            self.cleaner.start()
        self.retention.start()

    def unload(self) -> None:
        """Unload all shards and accept no more."""
        self.hosted.close()
        if self.executor is not None:
            self.executor.close()

    def close(self) -> None:
        """End timers and threads."""
        self.timers.close()
        self.node.fetches.close()
        self.retention.close()
        if self.silences is not None:
            self.silences.close()


def open_hosting(  # noqa: PLR0913 - arguments with names
    base: Foundation,
    wire: Wire,
    cluster: Cluster,
    *,
    authorizer: Authorizer | None,
    audit: AuditLog,
    changes: TopicChanges,
    retention_worker: Worker | None,
    has_cleaner: bool,
    has_sidecar: bool,
) -> Hosting:
    """Create the runtimes of this loop, and let them follow its catalog. No shard is loaded yet.

    ``changes`` has the topics that the catalog's records change. Without a worker retention has the log's own. ``has_sidecar`` is
    whether the silences of members may be written beside the log.
    """
    loop, config, store, services, clock = base.loop, base.config, base.store, base.services, base.clock
    meta, catalog, timers = store.meta, cluster.catalog, base.timers()
    group_counts, history = _group_counts(config, clock), HistoryLines()
    internal = InternalTopics(meta.cluster_id, {topic: meta.partition_count(topic) for topic in KINDS})
    topics = LoopTopics(catalog, internal, changes)
    group_settings = SettingsOfGroups(config, topics.settings, wire.incidents.report)
    ask_for_ids = partial(_allocate, catalog, server_context(config))
    materials = Materials(
        config,
        clock,
        base.new_uuid,
        report=wire.incidents.report,
        tell=group_counts.tell,
        new_producer_id=(producer_ids := ProducerIds(cluster.nodes.id, ask_for_ids, clock.now_ms, loop.call_later)).take,
        topics=topics,
        settings=group_settings,
        share_shard=(share_shard := ShareShards(meta.partition_count(SHARE_STATE.topic))),
        authorize=None if authorizer is None else authorizer.describable,
    )
    of_catalog: Runtimes = {CATALOG.topic: cluster.runtime}
    silences = _silences(base, cluster.nodes.loop) if has_sidecar else None
    measuring = services if silences is None else services._replace(silences=silences.of)
    runtimes = {topic: of_catalog.get(topic) or _runtime(topic, BUILDERS[topic], materials, measuring) for topic in KINDS}
    hosted = Hosted(runtimes, meta.partitions, cluster.nodes, loop)
    node = Node(
        config=config,
        cluster_id=meta.cluster_id,
        partitions=meta.partition_count(GROUPS.topic),
        groups=runtimes[GROUPS.topic],
        transaction_partitions=meta.partition_count(TRANSACTIONS.topic),
        transactions=runtimes[TRANSACTIONS.topic],
        producer_ids=producer_ids,
        runtimes=runtimes,
        catalog=catalog,
        image=topics,
        delays=timers,
        nodes=cluster.nodes,
        internal=internal,
        fetches=Fetches(store, services.flusher, timers, base.new_worker("fetches-stopped"), loop.call_soon_threadsafe),
        steps=Steps(wire.turns),
        courier=cluster.courier,
        share_sessions=ShareSessions(config.share.group_share_max_share_sessions, config.share.share_sessions_max_partitions),
        streams_topics=StreamsTopics(clock.now_ms),
        group_settings=group_settings,
        share_shard=share_shard,
        share_states=runtimes[SHARE_STATE.topic],
        authorizer=authorizer,
        audit=audit,
    )
    topic_news = _topic_news(runtimes, node.ourselves)
    rows = {topic: {row.effect.name: row for row in BUILDERS[topic].asked} for topic in KINDS}
    cluster.courier.deliver_to(Destinations(runtimes, rows, partial(_begin_kind, hosted, node)))
    catalog.notify(_notices(cluster, node, hosted, topic_news))
    return Hosting(
        hosted=hosted,
        node=node,
        timers=LoopTimers(loop, services.timers, clock, base.gate),
        executor=services.executor,
        topic_news=topic_news,
        group_counts=group_counts,
        moves=Moves(hosted, cluster.nodes, store, services.flusher.after_submit, cluster.roles),
        retention=open_retention(store, config, clock, retention_worker, history),
        history=history,
        cleaner=_cleaner(base, cluster.nodes) if has_cleaner else None,
        lease=base.gate.lease(
            partial(_suspend, runtimes, topics, topic_news), partial(_resume, runtimes, topics, topic_news, cluster)
        ),
        silences=silences,
    )


def _cleaner(base: Foundation, nodes: Nodes) -> Cleaner:
    """Return the cleaner of this loop's log. Of nodes that share one, the controller cleans all of it."""
    store = base.config.cluster.store
    if not store:
        return Cleaner(base.config.live, base.data_dir, partial(end_offsets, base.store.seal))
    path = log_path(base.data_dir, base.config)

    async def ends() -> Mapping[str, int]:
        return await asyncio.to_thread(store_ends, path)

    return Cleaner(base.config.live, path, ends, is_ours=lambda: nodes.view.owner_of(CATALOG_SHARD).node == nodes.id)


def _silences(base: Foundation, loop: int) -> Silences | None:
    files = SilenceFiles(base.data_dir, loop, base.config.log.log_silences_retention_days)
    least_ms = base.config.live.group_min_session_timeout_ms
    return open_silences(files, least_ms, base.clock, base.timers(), base.new_worker("silences-stopped"))


def _group_counts(config: Config, clock: Clock) -> GroupCounts:
    """Return the counts, which pass on what has lines in the server's log."""
    news = GroupNews(clock.now_ms).tell if config.log.log_rebalances else report_nothing
    return GroupCounts(news, clock.wall_ms)


def _allocate(catalog: Catalog, context: RequestContext, request: ProducerIdsRecord, reply: Reply[ProducerIdsRecord]) -> None:
    catalog.write(ALLOCATE_PRODUCER_IDS, context, request, reply)


def _runtime(topic: str, builder: Builder, materials: Materials, services: LoopServices) -> CoordinatorRuntime[Any]:
    settings, config = builder.settings(materials.config), materials.config
    return CoordinatorRuntime(
        topic,
        KINDS[topic].serde,
        builder.shard(materials),
        services,
        max_batch_bytes=config.log.message_max_bytes,
        append_linger_ms=settings.append_linger_ms,
        coalesces=settings.coalesces,
        producer_times=ProducerTimes(
            config.transactions.producer_id_expiration_ms, config.transactions.producer_id_expiration_check_interval_ms
        ),
    )


def _suspend(runtimes: Runtimes, topics: LoopTopics, topic_news: TopicNews, has_run_out: bool) -> None:
    """Let no shard answer while the lease is over. A node that starts or leaves has none, which is no fault."""
    if has_run_out:
        log.warning("lease-over", action="requests get NOT_COORDINATOR: another node may own the shards")
    topic_news.suspend(True)
    for runtime in runtimes.values():
        runtime.suspend(True)
    topics.forget_all()


def _resume(runtimes: Runtimes, topics: LoopTopics, topic_news: TopicNews, cluster: Cluster, had_run_out: bool) -> None:
    """Let the shards answer again."""
    if had_run_out:
        log.info("lease-renewed", action="the sessions of members begin anew")
    for runtime in runtimes.values():
        runtime.suspend(False)
    topics.forget_all()
    topic_news.suspend(False)
    if cluster.roles is not None:
        cluster.roles.resume()


def _topic_news(runtimes: Runtimes, ourselves: RequestContext) -> TopicNews:
    deleting = {topic: operation for topic in KINDS if (operation := BUILDERS[topic].topics_deleted) is not None}
    changing = {topic: changed for topic in KINDS if (changed := BUILDERS[topic].topics_changed) is not None}
    return TopicNews(runtimes, deleting, changing, ourselves)


def _begin_kind(hosted: Hosted, node: Node, topic: str) -> bool:
    """Return whether a kind is in use. If not, create its topic, as the first client request does."""
    if hosted.is_used(topic):
        return True
    [wanted] = [each for each in node.internal.on_demand() if each.name == topic]
    # The outcome is ignored: the sender retries.
    reply = CallbackReply(lambda _: None, lambda _error, _message: None)
    node.catalog.write(CREATE_INTERNAL_TOPIC, node.ourselves, TopicRecord(wanted.name, wanted.topic_id), reply)
    return False


def _notices(cluster: Cluster, node: Node, hosted: Hosted, topic_news: TopicNews) -> Notices:
    """Return all that follows the catalog, when a change is visible in this loop's catalog and before it is answered."""

    def changed() -> None:
        hosted.use_listed(cluster.catalog)
        topic_news.changed(node.image.refresh())
        cluster.family_news.changed()

    def deleted(gone: Sequence[DeletedTopic]) -> None:
        node.image.forget(gone)
        topic_news.deleted(gone)

    return Notices(changed, deleted)
