"""The catalog of a node that may become its owner, the controller, and follow another owner again, without a restart.

    follows ──its shard is loaded here──► leads ──its shard leaves──► follows

Who leads answers from the shard's own state and feeds the others. Who follows answers from the replica. A node that stops leading
keeps showing what it has made durable, until it has the log from the next owner: users and ACLs do not vanish in between. Answers
that wait for other nodes then fail with REQUEST_TIMED_OUT: the change is made, and not all nodes know of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Hashable
from typing import TypeVar, TypeVarTuple

import structlog

from coordinator_server.catalog.family import RecordFamily
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.cluster.catalog import NO_NOTICES, Notices, OwnCatalog
from coordinator_server.server.cluster.catalog_feed import FeedClient, FeedServer
from coordinator_server.server.cluster.catalog_replica import CatalogReplica

log = structlog.get_logger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")
Ts = TypeVarTuple("Ts")


class RoledCatalog:
    """The catalog in the role that this node has: a Catalog. ``others`` returns the nodes that may serve clients besides it."""

    def __init__(
        self,
        own: OwnCatalog,
        replica: CatalogReplica,
        server: FeedServer,
        client: FeedClient,
        others: Callable[[], Collection[int]],
    ) -> None:
        self._own = own
        self._replica = replica
        self._server = server
        self._client = client
        self._others = others
        self._now: OwnCatalog | CatalogReplica = replica
        self._notices = NO_NOTICES
        # The number of times that this node has changed its role.
        self._changes = 0
        self._changing = asyncio.Lock()
        # Whether this node has every change that was answered, or makes the changes itself.
        self._is_known = asyncio.Event()
        replica.on_current = self._is_known.set

    # Roles.

    def loop_ended(self, loop: int, incarnation: int) -> None:
        """Note that a process of a different loop has ended: no change waits for it."""
        self._own.loop_ended(loop, incarnation)

    @property
    def is_leading(self) -> bool:
        """Whether this node is the controller."""
        return self._now is self._own

    async def lead(self, expected: Collection[int] | None = None) -> None:
        """Become the controller, when the shard is loaded here.

        A change waits for the ``expected`` nodes until they have connected; by default for all that may serve.

        Raises CoordinatorError if the shard does not answer, as while the lease of this node is over: it neither leads nor follows
        then.
        """
        async with self._changing:
            if self.is_leading:
                return
            await self._client.stop()
            before = self._replica.read(CatalogShard.all_topics)
            present = {each.topic_id for each in self._own.read(CatalogShard.all_topics)}
            gone = [DeletedTopic(each.name, each.topic_id) for each in before if each.topic_id not in present]
            self._own.expect(self._others() if expected is None else expected)
            self._use(self._own)
            if gone:
                self._notices.deleted(gone)
            self._notices.changed()
            await self._server.start()
            self._is_known.set()

    async def follow(self) -> None:
        """Follow another owner, before the shard is unloaded here or after that. Return before it is found."""
        async with self._changing:
            if self.is_leading:
                await self._server.stop()
                self._replica.adopt(*self._own.retire())
                self._use(self._replica)
            self._client.start()

    async def catch_up(self) -> None:
        """Follow, and return when this node has every change that was answered."""
        await self.follow()
        await self.known()

    async def known(self) -> None:
        """Return when this node has every change that was answered once, or is the controller."""
        await self._is_known.wait()

    def resume(self) -> None:
        """Go on after the lease of this node was over."""
        if self.is_leading:
            self._own.resume()

    def look(self) -> None:
        """Note that the view may have another controller."""
        self._client.look()

    def begin_anew(self) -> None:
        """Stop answering from the replica until it is attached as a later process of this node."""
        if not self.is_leading:
            self._replica.end_lease()
        self._client.begin_anew()

    async def stop(self) -> None:
        """Close all connections."""
        async with self._changing:
            await self._client.stop()
            await self._server.stop()

    def _use(self, catalog: OwnCatalog | CatalogReplica) -> None:
        self._now = catalog
        self._changes += 1
        self._replica.note_role(is_leading=self.is_leading, has_leases=self._own.has_leases)
        log.info("controller-here" if self.is_leading else "controller-elsewhere", version=self._version_or_none())

    def _version_or_none(self) -> int | None:
        try:
            return self._now.version
        except CoordinatorError:
            return None

    # Catalog.

    def notify(self, notices: Notices) -> None:
        """Call these for every change, in each role."""
        self._notices = notices
        self._own.notify(notices)
        self._replica.notify(notices)

    @property
    def is_current(self) -> bool:
        """Whether this node has every answered change: a topic unknown here does not exist."""
        return self._now.is_current

    def has_all_of_now(self) -> Callable[[], bool]:
        """Return what says whether this node has by then every change that is durable now. Whoever leads has."""
        has_all = self._now.has_all_of_now()
        return lambda: self.is_leading or has_all()

    @property
    def version(self) -> int:
        """The number of records of the catalog's log that the answers here contain."""
        return self._now.version

    def read(self, operation: Callable[[CatalogShard, int, *Ts], R], /, *args: *Ts) -> R:
        """Run a read operation of the shard here, or on what is known here."""
        return self._now.read(operation, *args)

    def family_version(self, family: RecordFamily) -> Hashable:
        """Return a value that is different whenever the records of a family are, and after each change of the role."""
        return self._changes, self._now.family_version(family)

    def write(
        self, operation: WriteOperation[CatalogShard, Q, R], context: RequestContext, request: Q, reply: Reply[R], /
    ) -> None:
        """Run a change here, or forward it to the controller."""
        self._now.write(operation, context, request, reply)
