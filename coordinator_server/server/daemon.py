"""The lifecycle of one loop's server: opens the log, loads the topics, listens, loads the shards; stops in reverse order.

    prepared ── the topics are known, shards start to load
    listening ── requests for a shard that is not loaded yet get COORDINATOR_LOAD_IN_PROGRESS, and clients retry; sessions may end
    loaded ── every shard serves requests; sealing, cleaning and retention start only here

A server with one loop is complete. A node of several that share a store joins them in ``prepare``, owns the shards that it takes,
and gives them to others before it stops. One of several loops has a Place: the supervisor has locked the data directory and bound
the sockets, the shards are distributed over the loops, and one of them owns the catalog, which the others replicate.
composition.py opens the rooms of a server.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import structlog

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.config import Config
from coordinator_server.config.listeners import listener_specs
from coordinator_server.config.values import declared_topics
from coordinator_server.kinds import CATALOG, KINDS
from coordinator_server.log.errors import LogError
from coordinator_server.log.opening import Machine, read_owners, write_owners
from coordinator_server.log.shards import LoopShards
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.cluster.catalog import SHARD
from coordinator_server.server.cluster.catalog_roles import RoledCatalog
from coordinator_server.server.cluster.nodes import Place
from coordinator_server.server.cluster.operations import CREATE_INTERNAL_TOPIC, CREATE_PARTITIONS, DECLARE_TOPICS
from coordinator_server.server.cluster.view import Endpoint, ViewNode, moved_shards, view_of_loops
from coordinator_server.server.composition import Fatal, Rooms, Site, nodes_before_joining, nodes_of, open_rooms
from coordinator_server.server.environment import Environment
from coordinator_server.server.errors import StartError, WrongProperties
from coordinator_server.server.hosting.node_shards import NodeShards
from coordinator_server.server.local_operation import Operation
from coordinator_server.server.wire.ports import listen_problem
from coordinator_server.worker import Post
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import TopicRecord
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest

log = structlog.get_logger(__name__)

NOT_READY_SECONDS: Final = 5.0
"""How often a node that starts says what it waits for."""
NO_SLOW_TURNS: Final[Mapping[str, int]] = {}

Q = TypeVar("Q")
R = TypeVar("R")


class Daemon:
    """One server process. Call ``open``, ``finish_loading`` and ``stop`` on its loop.

    ``fatal`` is called when the log cannot be trusted, and the process must end. For one of several loops pass its ``place``, and
    call ``adopt``, ``prepare`` and ``listen`` instead of ``open``. ``slow_turns`` has the number of slow turns by API.
    """

    def __init__(
        self,
        config: Config,
        data_dir: Path,
        fatal: Fatal,
        place: Place | None = None,
        environment: Environment | None = None,
        *,
        slow_turns: Mapping[str, int] = NO_SLOW_TURNS,
    ) -> None:
        self._site = Site(config, data_dir, place, nodes_of(config, place), environment or Environment(), fatal, slow_turns)
        self._rooms: Rooms | None = None
        # Processes of other loops that ended before the log was open.
        self._ended: list[tuple[int, int]] = []
        # Creates the topics that a reload has declared.
        self._declaring: asyncio.Task[None] | None = None
        # The addresses of the listeners, if ``open`` has bound them.
        self.endpoints: list[Endpoint] = []

    @property
    def rooms(self) -> Rooms:
        """The rooms of the server. Available when the log is open."""
        assert self._rooms is not None, "the log is not open"
        return self._rooms

    @property
    def operations(self) -> dict[str, Operation]:
        """The operations of ``control.sock``. With several loops the supervisor listens and calls each loop."""
        return self.rooms.control.operations

    @property
    def cluster_id(self) -> str:
        """The cluster id, read from the data directory."""
        return self.rooms.store.meta.cluster_id

    @property
    def progress(self) -> str:
        """What the server does, in a line."""
        if self._rooms is None:
            return "recovering the log"
        hosted, connections = self._rooms.hosting.hosted, len(self._rooms.wire.listener.connections)
        shards, left = len(hosted.progress), hosted.left_to_load
        if left:
            records = sum(each.records for each in hosted.progress)
            return f"loading: {shards - left} of {shards} shards, {records:,} records"
        if self._rooms.shards is not None and (awaited := self._rooms.shards.awaited) is not None:
            return f"waiting for {awaited}"
        return f"serving: {shards} shards, {connections} connections"

    async def start(self, host: str, port: int) -> None:
        """Run ``open``, then ``finish_loading``."""
        await self.open(host, port)
        await self.finish_loading()

    async def open(self, host: str, port: int) -> Endpoint:
        """Open the log and start to serve clients, before all shards are loaded. Return the address of the first listener.

        It is bound to ``host`` and ``port``, the others as the property ``listeners`` says.

        Raises StartError and LogError; call ``stop`` then, too.
        """
        listener = (await self._open_log()).wire.listener
        others = [(each.host, each.port) for each in listener_specs(self._site.config)[1:]]
        self.endpoints = []
        for acceptor, address in zip(listener.acceptors, [(host, port), *others], strict=True):
            try:
                self.endpoints.append(Endpoint(*await acceptor.bind(*address)))
            except OSError as refused:
                raise StartError(listen_problem(*address, refused)) from None
        listener.addresses = [*self.endpoints]
        await self.prepare()
        await self.listen()
        return self.endpoints[0]

    async def adopt(self, sockets: Sequence[Sequence[socket.socket]]) -> None:
        """Open the log, and use sockets that are bound for each listener.

        Raises StartError and LogError; call ``stop`` then, too.
        """
        listener = (await self._open_log()).wire.listener
        listener.addresses = [await acceptor.adopt(bound) for acceptor, bound in zip(listener.acceptors, sockets, strict=True)]

    async def prepare(self) -> None:
        """Load the topics and start to load the shards. Raises StartError and LogError; call ``stop`` then, too."""
        cluster, hosting = self.rooms.cluster, self.rooms.hosting
        # The topics may be unknown for a while, and members cannot be heard.
        self.rooms.services.timers.hold()
        hosting.timers.start()
        if cluster.neighbours is not None:
            await cluster.neighbours.start()
        await self._load_permanent_kinds()
        if self.rooms.shards is not None:
            await self._join(self.rooms.shards)
        elif cluster.roles is not None:
            await self._take_role(cluster.roles)
        if self._is_controller:
            await self._declare_topics()
            await self._declare_kinds_in_use()
        if self.rooms.shards is not None:
            self.rooms.shards.led = self._led
        hosting.hosted.use_listed(cluster.catalog)
        cluster.family_news.changed()

    def loop_ended(self, loop: int, incarnation: int) -> None:
        """Note that a process of another loop has ended: no change of the catalog waits for it."""
        if self._rooms is None:
            self._ended.append((loop, incarnation))
        elif self._rooms.cluster.roles is not None:
            self._rooms.cluster.roles.loop_ended(loop, incarnation)

    async def listen(self) -> None:
        """Accept connections of clients and tools."""
        if self.rooms.control.socket is not None:
            await self.rooms.control.socket.start()
        await self.rooms.wire.listen()
        self.rooms.services.timers.release(self.rooms.services.clock.now_ms())
        if self.rooms.shards is not None:
            self.rooms.shards.serve()

    def reload(self, changed: Config) -> None:
        """Use a configuration that the running one may change to, and read the certificates again."""
        if self._rooms is None:
            self._site.config.live.adopt(changed.live)
            return
        self._rooms.reconfiguration.apply(changed)
        if self._is_controller:
            self._declaring = asyncio.get_running_loop().create_task(self._declare_again(self._declaring))

    async def finish_loading(self) -> None:
        """Wait until every shard is loaded, logging the progress, and start cleaning and retention.

        Raises StartError; call ``stop`` then, too.
        """
        await self.rooms.hosting.finish_loading()

    async def own_part(self) -> None:
        """Return when a node of several has its part of the shards, loaded: it is ready then. Return at once if this is none."""
        shards = self.rooms.shards
        while shards is not None:
            try:
                async with asyncio.timeout(NOT_READY_SECONDS):
                    await shards.complete()
                    break
            except TimeoutError:
                log.info("not-ready", awaited=shards.awaited)

    async def stop(self) -> None:
        """Answer the requests already read, unload all shards, and close the log cleanly, so that it opens fast."""
        if self._rooms is None:
            return
        store, services, wire, cluster, hosting, metrics, control, _, links, shards = self._rooms
        metrics.close()
        if shards is not None:
            # Clients are answered meanwhile: they learn here who has the shards.
            await shards.leave()
            shards.close()
        wire.stop_reading()
        if control.socket is not None:
            await control.socket.stop()
        if hosting.cleaner is not None:
            await hosting.cleaner.stop()
        idle = asyncio.Event()
        services.flusher.when_idle(idle.set)
        await idle.wait()
        if self._declaring is not None:
            await asyncio.wait([self._declaring])
        hosting.unload()
        if cluster.neighbours is not None:
            await cluster.neighbours.stop()
        await wire.listener.hang_up()
        if cluster.roles is not None:
            await cluster.roles.stop()
        if links is not None:
            links.close()
        hosting.close()
        wire.background.close()
        store.close()
        if self._site.shared is not None:
            self._site.shared.close()

    async def _open_log(self) -> Rooms:
        """Lock the data directory, unless the supervisor has locked it, and recover the log. Raises LogError."""
        config, data_dir, place, nodes, environment, fatal, *_ = self._site
        post: Post = asyncio.get_running_loop().call_soon_threadsafe
        part = None if place is None else LoopShards(place.loop, nodes.owns)
        worker = environment.make_worker() if environment.make_worker else None
        machine = Machine(environment.storage, worker, environment.make_writer)
        store, shared = await environment.open_log(data_dir, config, post, part, machine)
        store.when_failed(fatal)
        if shared is not None:
            self._site = self._site._replace(nodes=nodes_before_joining(config, store.meta.partitions), shared=shared)
        elif place is None:
            try:
                self._use_owners()
            except LogError:
                store.close()
                raise
        self._rooms = open_rooms(self._site, store)
        for ended in self._ended:
            self.loop_ended(*ended)
        return self._rooms

    def _use_owners(self) -> None:
        """Let the epochs of shards go on that moved while the server had several loops. Raises LogError."""
        config, data_dir, storage = self._site.config, self._site.data_dir, self._site.environment.storage
        moved = read_owners(data_dir, storage)
        if moved is not None:
            specs = listener_specs(config)
            self._site.nodes.replace(view_of_loops(config.node_id, specs, [[0]] * len(specs), moved))
            if moved.loops != 1:
                write_owners(data_dir, moved_shards(self._site.nodes.view), storage)

    @property
    def _is_controller(self) -> bool:
        """Whether changes of the catalog are made here."""
        roles = self.rooms.cluster.roles
        return roles is None or roles.is_leading

    async def _take_role(self, roles: RoledCatalog) -> None:
        """Lead if the catalog is loaded here, else follow, and return when this loop has what its owner has answered."""
        if self._site.nodes.owns(SHARD):
            assert self._site.place is not None, "a server with one loop has no roles"
            await roles.lead(self._site.place.serving)
        else:
            await roles.catch_up()

    async def _join(self, shards: NodeShards) -> None:
        """Join the other nodes, and return when this one has the catalog. Raises StartError."""
        rooms, (config, *_) = self.rooms, self._site
        assert rooms.links is not None, "a node has links"
        for_nodes = await rooms.links.listen()
        bound = zip(self._site.specs, rooms.wire.listener.addresses, strict=True)
        listeners = tuple(Endpoint(*(spec.advertised or address)) for spec, address in bound)
        shards.start(ViewNode(config.node_id, listeners, config.node_id, for_nodes=for_nodes))
        await shards.joined()

    def _led(self) -> None:
        """Create what the properties of this node declare: the controller before it may not have done that."""
        self._declaring = asyncio.get_running_loop().create_task(self._declare_again(self._declaring))

    async def _load_permanent_kinds(self) -> None:
        """Start to load the shards of the permanent kinds, and wait for the catalog, which is the first."""
        hosted = self.rooms.hosting.hosted
        for kind in KINDS.values():
            if kind.is_permanent:
                hosted.use(kind.topic)
        if self._site.nodes.owns(SHARD) and await hosted.use(CATALOG.topic)[0] != ErrorCode.NONE:
            raise StartError("the topics could not be loaded: the line above names the damaged file")

    async def _declare_topics(self) -> None:
        """Create the missing topics of the ``topics`` property, and the missing partitions of others. Raises StartError."""
        missing, growing = [], []
        for name, count in declared_topics(self._site.config).items():
            topic = self.rooms.hosting.node.image.topic(name)
            if topic is None:
                missing.append(CreatableTopic(name, -1 if count is None else count, -1))
            elif count is not None and count > topic.partitions:
                growing.append(CreatePartitionsTopic(name, count, assignments=None))
            elif count is not None and count < topic.partitions:
                raise WrongProperties(
                    f"topics: {name} has {topic.partitions} partitions, which cannot be fewer: "
                    f"declare {name}:{topic.partitions}, or {name} without a number"
                )
        if missing:
            made = await self._write(DECLARE_TOPICS, CreateTopicsRequest(topics=missing))
            _check_declared([(each.name, each.error_code, each.error_message) for each in made.topics])
        if growing:
            grown = await self._write(CREATE_PARTITIONS, CreatePartitionsRequest(topics=growing))
            _check_declared([(each.name, each.error_code, each.error_message) for each in grown.results])

    async def _declare_again(self, earlier: asyncio.Task[None] | None) -> None:
        """Create what the ``topics`` property declares now, after what an earlier reload has declared."""
        if earlier is not None:
            await asyncio.wait([earlier])
        try:
            await self._declare_topics()
        except StartError as refused:
            log.error("topics-not-declared", why=str(refused), action="the topics stay as they are")

    async def _declare_kinds_in_use(self) -> None:
        """Create the topics of kinds that have records but are not in the catalog: an import wrote them."""
        node, there = self.rooms.hosting.node, self.rooms.store.topics()
        for topic in node.internal.on_demand():
            if topic.name in there and node.image.topic(topic.name) is None:
                await self._write(CREATE_INTERNAL_TOPIC, TopicRecord(topic.name, topic.topic_id))

    async def _write(self, operation: WriteOperation[CatalogShard, Q, R], request: Q) -> R:
        """Run a write operation on the catalog. Raises StartError."""
        outcome: asyncio.Future[R] = asyncio.get_running_loop().create_future()

        def refused(error: ErrorCode, message: str | None) -> None:
            outcome.set_exception(start_refusal(operation.name, error, message))

        node = self.rooms.hosting.node
        node.catalog.write(operation, node.ourselves, request, CallbackReply(outcome.set_result, refused))
        return await outcome


def _check_declared(results: Iterable[tuple[str, int, str | None]]) -> None:
    """Raise WrongProperties for the first topic, of name, error and message, that was refused."""
    for name, error, message in results:
        if error != ErrorCode.NONE:
            raise WrongProperties(f"topics: {name}: {message}")


def start_refusal(operation: str, error: ErrorCode, message: str | None) -> StartError:
    """Return the error of a start whose write to the catalog is refused, with what to do if the log refuses it."""
    if error is ErrorCode.KAFKA_STORAGE_ERROR:
        message = f"the log takes no records, for the reason in the line log-refuses ({error.name}): mend that, then start again"
    return StartError(f"{operation}: the topics could not be made: {message or error.name}")
