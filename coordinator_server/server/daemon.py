"""One loop's server: opens its log, learns the topics, listens, loads the groups; and undoes that in reverse order.

    prepared ── the topics are known, groups begin to load
    listening ── whoever asks for a group that is not there yet is told COORDINATOR_LOAD_IN_PROGRESS, and asks again
    loaded ── every group answers; only now the log is sealed, cleaned and cut

Alone it is the whole server. As one of several it has a Place among them: the supervisor has taken the data directory and bound the
sockets, shards are spread, and the catalog is loop 0's; the others follow it.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import structlog

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.config import Config, advertised_address, declared_topics
from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import CATALOG, GROUPS, partition_counts
from coordinator_server.log.errors import LogError
from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.recovery import Share
from coordinator_server.log.retention import History, Removed, Retention
from coordinator_server.log.store import ShardId
from coordinator_server.log.worker import ThreadWorker
from coordinator_server.log.writer import Sync
from coordinator_server.machine.provenance import SERVER_ORIGIN, TIMER_ORIGIN
from coordinator_server.machine.shard import CoordinatorTimer, RequestContext
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.context import ShardState
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.gather import Refused
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.runtime import CoordinatorRuntime, LoopServices, WriteOperation
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from coordinator_server.server.administration import answer_expiring, answer_restore
from coordinator_server.server.cleaner import Cleaner
from coordinator_server.server.cluster import catalog
from coordinator_server.server.cluster.catalog import OwnCatalog
from coordinator_server.server.cluster.followed import FollowedCatalog
from coordinator_server.server.cluster.nodes import CONTROLLER, Endpoint, Nodes
from coordinator_server.server.cluster.operations import DECLARE_TOPICS
from coordinator_server.server.cluster.tail import TailClient, TailServer
from coordinator_server.server.connection import PendingReply
from coordinator_server.server.control import ControlSocket, Operation, Refusal
from coordinator_server.server.digest import answer_digest
from coordinator_server.server.dispatch import Dispatcher, LoggedReply
from coordinator_server.server.errors import StartError
from coordinator_server.server.fetching import Fetches
from coordinator_server.server.internal import InternalTopics
from coordinator_server.server.listener import Listener
from coordinator_server.server.node import Node
from coordinator_server.server.outside import Outside
from coordinator_server.server.table import served_apis
from coordinator_server.server.then import Then
from coordinator_server.server.timers import LoopTimers
from protocol.error_codes import ErrorCode
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse

log = structlog.get_logger(__name__)

FIRST_EPOCH = 1
DELETE_TOPIC_OFFSETS = WriteOperation("delete-topic-offsets", GroupShard.delete_topics)
PROGRESS_SECONDS = 2.0


class Place(NamedTuple):
    """Which of a server's loops this is: ``loop`` of those that listen on ``ports``. ``serving`` are those that do so already."""

    loop: int
    ports: tuple[int, ...]
    serving: tuple[int, ...] = ()


class Daemon:
    """One server process. ``open``, ``finish_loading`` and ``stop`` are called on its loop; ``fatal`` when the log cannot be trusted any more.

    One of several loops is given its ``place``; then ``adopt``, ``prepare`` and ``listen`` are called in the stead of ``open``.
    """

    def __init__(
        self,
        config: Config,
        data_dir: Path,
        fatal: Callable[[LogError], None],
        place: Place | None = None,
        outside: Outside | None = None,
    ) -> None:
        self._config = config
        self._place = place
        self._data_dir = data_dir
        self._loop = asyncio.get_running_loop()
        self._outside = outside = outside or Outside()
        self._clock = outside.clock
        self._timers = TimerQueue()
        self._loop_timers = LoopTimers(self._loop, self._timers, self._clock)
        advertised = advertised_address(config)
        nodes = Nodes(config.node_id, advertised=Endpoint(*advertised) if advertised else None)
        self._nodes = nodes if place is None else nodes._replace(ports=place.ports, loop=place.loop)
        self._fatal = fatal
        self._ourselves = RequestContext("", "", -1, 0, origin=SERVER_ORIGIN if config.log_provenance else None)
        self._store = self._open_store()
        self._store.when_failed(fatal)
        history = History(config.log_history_retention_ms, config.log_history_retention_bytes)
        self._retention = Retention(
            self._store,
            history,
            _say_removed,
            check_ms=config.log_retention_check_interval_ms,
            storage=outside.storage,
            worker=outside.make_worker() if outside.make_worker else None,
            wall_ms=self._clock.wall_ms,
        )
        self._flusher = Flusher(self._store, self._loop.call_soon, fatal)
        services = LoopServices(
            self._store,
            self._flusher,
            self._timers,
            self._clock,
            LoadQueue(self._loop.call_soon, self._clock),
            TIMER_ORIGIN if config.log_provenance else None,
        )
        batch_bytes = config.message_max_bytes
        self._groups = CoordinatorRuntime(
            GROUPS.topic,
            GROUPS.serde,
            self._build_group,
            services,
            max_batch_bytes=batch_bytes,
            append_linger_ms=config.group_coordinator_append_linger_ms,
            coalesces=config.offsets_commit_coalesce,
        )
        self._catalog = CoordinatorRuntime(
            CATALOG.topic, CATALOG.serde, self._build_catalog, services, max_batch_bytes=batch_bytes
        )
        self._tail: TailServer | TailClient | None = None
        self._topics = self._make_catalog()
        self._topics.on_deleted = self._delete_offsets
        delays = ShardTimers(self._timers, self._clock, _run)
        readers = outside.make_worker() if outside.make_worker else ThreadWorker(lambda: log.error("fetches-stopped"))
        self._node = Node(
            config,
            self._store.meta.cluster_id,
            config.offsets_topic_num_partitions,
            self._groups,
            self._topics,
            delays,
            self._nodes,
            InternalTopics(self._store.meta.cluster_id, config.offsets_topic_num_partitions),
            Fetches(self._store, self._flusher, delays, readers, self._post),
        )
        dispatcher = Dispatcher(served_apis(self._node), _reply_type(), has_provenance=config.log_provenance)
        self._listener = Listener(self._loop, config, dispatcher)
        self._loads: list[asyncio.Future[ErrorCode]] = []
        self._is_loaded = False
        # Topics that were deleted before every shard could hear of it.
        self._deleted: list[DeletedTopic] = []
        # What ``control.sock`` can be asked for. With several loops the supervisor listens there, and asks all of them.
        self.operations: dict[str, Operation] = {
            "shards": self._describe_shards,
            "seal": partial(self._when_loaded, self._seal),
            "digest": partial(self._when_loaded, partial(answer_digest, (self._catalog, self._groups))),
            "restore": partial(self._when_loaded, partial(answer_restore, self._node)),
            "expiring": partial(self._when_loaded, partial(answer_expiring, self._node)),
        }
        has_tools = place is None and outside.has_tools
        self._control = ControlSocket(data_dir, self.operations) if has_tools else None
        self._cleaner = Cleaner(config, data_dir, self._seal_all) if has_tools else None

    async def start(self, host: str, port: int) -> None:
        """``open`` and ``finish_loading`` in one."""
        await self.open(host, port)
        await self.finish_loading()

    async def open(self, host: str, port: int) -> Endpoint:
        """Answer clients, about groups as far as these are loaded. Raises StartError and LogError; ``stop`` is owed then, too."""
        try:
            endpoint = Endpoint(*await self._listener.bind(host, port))
        except OSError as refused:
            reason = refused.strerror or str(refused)
            raise StartError(
                f"cannot listen on {host}:{port}: {reason}; is another server there? --listen takes another"
            ) from None
        await self.prepare()
        await self.listen()
        return endpoint

    @property
    def cluster_id(self) -> str:
        """The cluster's, from the data directory."""
        return self._store.meta.cluster_id

    async def adopt(self, sockets: Sequence[socket.socket]) -> None:
        """Take sockets that are bound, instead of binding any."""
        await self._listener.adopt(sockets)

    async def prepare(self) -> None:
        """Know the topics, and begin to load the groups. Raises StartError and LogError; ``stop`` is owed then, too."""
        self._loop_timers.start()
        await self._begin_to_load()
        if isinstance(self._tail, TailServer):
            await self._tail.start()
        if isinstance(self._tail, TailClient):
            await self._tail.catch_up()
        else:
            await self._declare_topics()

    async def listen(self) -> None:
        """Accept clients."""
        if self._control is not None:
            await self._control.start()
        await self._listener.start()

    async def finish_loading(self) -> None:
        """Wait until every group answers, and say how far that is while it takes long. Raises StartError; ``stop`` is owed then, too."""
        loads, started = self._loads, self._loop.time()
        pending: set[asyncio.Future[ErrorCode]] = set(loads)
        while pending:
            _, pending = await asyncio.wait(pending, timeout=PROGRESS_SECONDS)
            seconds = round(self._loop.time() - started, 1)
            left, records = len(pending), self._groups.records_loaded
            log.info("loading" if left else "loaded", records=records, shards=len(loads), shards_left=left, seconds=seconds)
        failed = sum(load.result() != ErrorCode.NONE for load in loads)
        if failed:
            raise StartError(f"{failed} of {len(loads)} shards could not be loaded: the lines above name the damaged files")
        self._is_loaded = True
        self._delete_offsets(self._deleted)
        if self._cleaner is not None:
            self._cleaner.start()
        self._retention.start()

    async def stop(self) -> None:
        """Answer what was read, end what is waited for, and leave a log that opens at once."""
        self._listener.stop_reading()
        if self._control is not None:
            await self._control.stop()
        if self._cleaner is not None:
            await self._cleaner.stop()
        idle = asyncio.Event()
        self._flusher.when_idle(idle.set)
        await idle.wait()
        self._groups.close()
        self._catalog.close()
        await self._listener.hang_up()
        if self._tail is not None:
            await self._tail.stop()
        self._loop_timers.close()
        self._node.fetches.close()
        self._retention.close()
        self._store.close()

    def _open_store(self) -> LocalLogStore:
        config = self._config
        settings: dict[str, Any] = {
            "post": self._post,
            "segment_bytes": config.offsets_topic_segment_bytes,
            "roll_ms": config.log_roll_ms,
            "journal_bytes": config.log_journal_bytes,
            "sync": Sync.NEVER if config.log_flush == "os" else Sync.ADAPTIVE,
            "storage": self._outside.storage,
            "worker": self._outside.make_worker() if self._outside.make_worker else None,
            "make_writer": self._outside.make_writer,
        }
        if self._place is not None:
            return LocalLogStore.open_share(self._data_dir, Share(self._place.loop, self._nodes.owns), **settings)
        return LocalLogStore.open(self._data_dir, node_id=config.node_id, partitions=partition_counts(config), **settings)

    def _make_catalog(self) -> OwnCatalog | FollowedCatalog:
        place, call_later = self._place, self._loop.call_later
        if place is None:
            return OwnCatalog(self._catalog, self._store, call_later)
        if place.loop == CONTROLLER:
            own = OwnCatalog(self._catalog, self._store, call_later, place.serving)
            self._tail = TailServer(self._data_dir, own, has_provenance=self._config.log_provenance)
            return own
        timers = ShardTimers(self._timers, self._clock, _run)

        def new_shard() -> CatalogShard:
            return self._build_catalog(partition=catalog.PARTITION, registry=SnapshotRegistry(), timer=timers)

        followed = FollowedCatalog(place.loop, new_shard, CATALOG.serde, call_later, self._diverged)
        self._tail = TailClient(self._data_dir, followed)
        return followed

    def _diverged(self, why: str) -> None:
        self._fatal(LogError(why))

    async def _begin_to_load(self) -> None:
        """Begin to load every shard, and wait for the catalog, which is the first."""

        def loaded() -> Callable[[ErrorCode], None]:
            outcome: asyncio.Future[ErrorCode] = self._loop.create_future()
            self._loads.append(outcome)
            return outcome.set_result

        owns_catalog = self._nodes.owns(catalog.SHARD)
        if owns_catalog:
            self._catalog.load(catalog.PARTITION, FIRST_EPOCH, loaded())
        for partition in range(self._config.offsets_topic_num_partitions):
            if self._nodes.owns(ShardId(GROUPS.topic, partition)):
                self._groups.load(partition, FIRST_EPOCH, loaded())
        if owns_catalog and await self._loads[0] != ErrorCode.NONE:
            raise StartError("the topics could not be loaded: the line above names the damaged file")

    async def _declare_topics(self) -> None:
        topics = declared_topics(self._config)
        missing = [CreatableTopic(name, count, -1) for name, count in topics.items() if self._node.topic(name) is None]
        if not missing:
            return
        outcome: asyncio.Future[CreateTopicsResponse] = self._loop.create_future()

        def refused(error: ErrorCode, message: str | None) -> None:
            outcome.set_exception(StartError(f"the declared topics could not be made: {message or error.name}"))

        reply = Then(outcome.set_result, refused)
        self._topics.write(DECLARE_TOPICS, self._ourselves, CreateTopicsRequest(topics=missing), reply)
        for result in (await outcome).topics:
            if result.error_code != ErrorCode.NONE:
                raise StartError(f"topics: {result.name}: {result.error_message}")

    def _delete_offsets(self, topics: Sequence[DeletedTopic]) -> None:
        """What groups of this loop committed for topics that are gone."""
        if not self._is_loaded:
            self._deleted += topics
            return

        def begun(answers: list[Refused | None]) -> None:
            failed = sum(isinstance(answer, Refused) for answer in answers)
            if failed:
                log.warning("offsets-of-deleted-topics-kept", topics=[topic.name for topic in topics], shards=failed)

        if topics:
            self._groups.write_all(DELETE_TOPIC_OFFSETS, self._ourselves, topics, begun)

    async def _describe_shards(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Where each shard is in its life, and how many records its load has read so far."""
        progress = [*self._catalog.progress, *self._groups.progress]
        return {"shards": {str(each.shard): {"state": each.state.value, "records_loaded": each.records} for each in progress}}

    async def _when_loaded(self, operation: Operation, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Whoever works on the log as a whole gets it whole. Raises Refusal."""
        if not self._is_loaded:
            left = sum(each.state is ShardState.LOADING for each in self._groups.progress)
            raise Refusal(
                f'{left} shards are still being loaded, {{"op": "shards"}} says how far they are: try again when they are there'
            )
        return await operation(request)

    async def _seal(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """End every active segment, so that all that is durable now can be compacted."""
        return {"shards": await self._seal_all()}

    async def _seal_all(self) -> Mapping[str, int]:
        sealed: asyncio.Future[dict[str, int]] = self._loop.create_future()

        def done(outcome: dict[ShardId, int] | LogError) -> None:
            if isinstance(outcome, LogError):
                sealed.set_exception(outcome)
            else:
                sealed.set_result({str(shard): end for shard, end in outcome.items()})

        self._store.seal(done)
        return await sealed

    def _post(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(callback)

    def _build_group(self, *, partition: int, registry: SnapshotRegistry, timer: CoordinatorTimer) -> GroupShard:
        new_uuid = self._outside.new_uuid
        return GroupShard(config=self._config, registry=registry, timer=timer, clock=self._clock, new_id=lambda: str(new_uuid()))

    def _build_catalog(self, *, partition: int, registry: SnapshotRegistry, timer: CoordinatorTimer) -> CatalogShard:
        new_uuid = self._outside.new_uuid
        return CatalogShard(config=self._config, registry=registry, timer=timer, new_topic_id=lambda: new_uuid().bytes)


def _reply_type() -> type[PendingReply[Any]]:
    """A line per request costs more than the request: only where somebody asked for debug lines."""
    return LoggedReply if log.is_enabled_for(logging.DEBUG) else PendingReply


def _say_removed(removed: Removed) -> None:
    if removed.layers or removed.segments:
        log.info("history-removed", shard=str(removed.shard), layers=removed.layers, segments=removed.segments)
    if removed.damage is not None:
        log.warning("history-kept", shard=str(removed.shard), damage=str(removed.damage))


def _run(timer: Timer) -> None:
    timer.operation()
