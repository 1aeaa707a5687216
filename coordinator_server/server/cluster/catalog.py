"""The catalog: topics, settings, users, ACLs and quotas, which all loops share, and its replication from the loop
that owns its log, the controller.

A change is answered when it is durable and every loop that may answer clients has it:

    write ── durable ── publish to the followers ── all have acknowledged it ──► answer
                                        └── one has not: until its process has ended, or its lease

A follower is a loop that replicates this log. Compaction removes the records of deleted topics and their tombstones. So a
follower whose next offset is below the end of the newest layer gets the whole log and starts over. One that starts serves clients
when it has caught up. One whose link is lost may go on serving what it knows: it is waited for as if it were attached
(``followers.py``). Loops that may serve clients when an owner begins are ``expected``: it waits for them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeVar, TypeVarTuple

import structlog

from coordinator_server.catalog.family import RecordFamily
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.log.errors import LogError
from coordinator_server.log.store import LoadingLog
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.server.cluster.followers import Follower, Followers, Leasing
from coordinator_server.server.cluster.view import CATALOG_SHARD
from protocol.error_codes import ErrorCode
from protocol.messages.delete_topics import DeleteTopicsResponse
from protocol.record_batch import read_header

log = structlog.get_logger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")
Ts = TypeVarTuple("Ts")

PARTITION: Final = 0
SHARD: Final = CATALOG_SHARD
# After this time without all acknowledgements a change, and whom it waits for, are logged.
SLOW_S: Final = 1.0

NO_LEASES: Final = Leasing()

_NOT_OWNER: Final = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_LEADER_OR_FOLLOWER})

TopicsDeleted = Callable[[Sequence[DeletedTopic]], None]
CallLater = Callable[[float, Callable[[], None]], object]


class Notices(NamedTuple):
    """What follows the catalog in a loop: ``changed`` is called for every change, and before it ``deleted`` with topics deleted."""

    changed: Callable[[], None] = lambda: None
    deleted: TopicsDeleted = lambda _topics: None


NO_NOTICES: Final = Notices()


class Catalog(Protocol):
    """The topics, settings, users, ACLs and quotas as this loop knows them, and the operations that change them."""

    @property
    def is_current(self) -> bool:
        """Whether this loop has every answered change: a topic unknown here does not exist."""

    def has_all_of_now(self) -> Callable[[], bool]:
        """Return what says whether this loop has by then every change that is durable now, answered or not."""

    @property
    def version(self) -> int:
        """The number of records of the catalog's log that the answers here contain."""

    def read(self, operation: Callable[[CatalogShard, int, *Ts], R], /, *args: *Ts) -> R:
        """Run a read operation of the shard on what is durable, and return its result.

        Raises CoordinatorError while the catalog loads, and while the lease is over.
        """

    def family_version(self, family: RecordFamily) -> Hashable:
        """Return a value that is different whenever the records of a family are."""

    def write(
        self, operation: WriteOperation[CatalogShard, Q, R], context: RequestContext, request: Q, reply: Reply[R], /
    ) -> None:
        """Run a change. ``reply`` is answered when the change is durable and all loops have it."""


class OwnCatalog:
    """The catalog of its owner, and of a server with one loop."""

    def __init__(
        self,
        runtime: CoordinatorRuntime[CatalogShard],
        store: LoadingLog,
        call_later: CallLater,
        expected: Collection[int] = (),
        leasing: Leasing = NO_LEASES,
    ) -> None:
        self._runtime = runtime
        self._store = store
        self._call_later = call_later
        self._published = 0
        # Whether it was the owner, and is not any more: a connection that was being accepted may still ask.
        self._is_retired = False
        self._leasing = leasing
        self._followers = Followers(expected, leasing)
        self._held: list[tuple[int, Callable[[], None], Reply[Any]]] = []
        # Changes that became durable while the lease of this node was over. They are visible, and sent to replicas, after that.
        self._suspended: list[tuple[Callable[[], None], Reply[Any]]] = []
        # The shard, and the end of what is durable of it, since this loop became its owner: they outlive the unload.
        self._owned: tuple[CatalogShard, int] | None = None
        self._notices = NO_NOTICES

    def notify(self, notices: Notices) -> None:
        """Call these for every change, when it is durable and before it is answered."""
        self._notices = notices

    @property
    def has_leases(self) -> bool:
        """Whether followers may answer for a limited time only without the owner."""
        return self._leasing.lease_ms > 0

    @property
    def may_grant(self) -> bool:
        """Whether followers may be granted leases: this node may still be the owner."""
        return not self._is_retired and self._leasing.may_grant()

    @property
    def is_current(self) -> bool:
        """Always true, because changes are made here."""
        return True

    def has_all_of_now(self) -> Callable[[], bool]:
        """Return what is always true."""
        return lambda: True

    @property
    def version(self) -> int:
        """The number of durable records. Raises CoordinatorError while the catalog loads."""
        return self.read(CatalogShard.version)

    def read(self, operation: Callable[[CatalogShard, int, *Ts], R], /, *args: *Ts) -> R:
        """Run a read operation of the shard, also while the lease is over or another node has fenced this one: what the node does
        for itself then goes on. Raises CoordinatorError while the catalog loads.
        """
        try:
            return self._runtime.read(PARTITION, operation, *args)
        except CoordinatorError:
            kept = self._runtime.state(PARTITION) or self._owned
            if kept is None or self._owned is None:
                raise
            return operation(*kept, *args)

    def family_version(self, family: RecordFamily) -> Hashable:
        """Return the offset after the last record of a family. Raises CoordinatorError while the catalog loads."""
        return self.read(CatalogShard.changed_to, family)

    def write(
        self, operation: WriteOperation[CatalogShard, Q, R], context: RequestContext, request: Q, reply: Reply[R], /
    ) -> None:
        """Run a change. ``reply`` is answered when the change is durable and all loops have it."""

        def durable(response: Any) -> None:
            if not self._leasing.may_grant():
                self._suspended.append((partial(durable, response), reply))
                return
            if isinstance(response, DeleteTopicsResponse):
                self._notices.deleted(
                    [DeletedTopic(each.name or "", each.topic_id) for each in response.responses if not each.error_code]
                )
            self._notices.changed()
            self._owned = self._owned and self._runtime.read(PARTITION, _state)
            try:
                self._publish()
            except LogError as error:
                log.error("catalog-not-published", why=str(error), action="other loops read it when they are back")
                self._drop(self._followers)
                reply.fail(ErrorCode.REQUEST_TIMED_OUT, "the change was made, and not all nodes know of it yet")
            else:
                self._hold(lambda: reply.complete(response), reply)

        self._runtime.write(PARTITION, operation, context, request, CallbackReply(durable, partial(_refuse, reply)))

    # Called when this node becomes the owner, and when it is not any more.

    def expect(self, loops: Collection[int]) -> None:
        """Become the owner. Let changes wait for loops that serve clients and have not connected yet."""
        self._is_retired = False
        self._followers.expect(loops)
        self._published = self._store.end_offset(SHARD)
        self._owned = self._runtime.read(PARTITION, _state)

    def resume(self) -> None:
        """Go on with what has become durable while the lease was over."""
        suspended, self._suspended = self._suspended, []
        for go_on, _ in suspended:
            go_on()

    def retire(self) -> tuple[CatalogShard, int]:
        """Stop being the owner, when nothing is under way to the log. Return the shard, and the end of what is durable of it."""
        self._is_retired = True
        replies = [*(reply for _, _, reply in self._held), *(reply for _, reply in self._suspended)]
        self._held, self._suspended = [], []
        self._followers = Followers((), self._leasing)
        for reply in replies:
            reply.fail(ErrorCode.REQUEST_TIMED_OUT, "the change was made, and not all nodes know of it yet")
        assert self._owned is not None, "a loop that has not owned the catalog cannot retire"
        return self._owned

    # Called by the followers' connections.

    def attach(self, follower: Follower, next_offset: int) -> tuple[int, int]:
        """Subscribe a loop to the log from an offset on.

        Return the present end, which it must reach before it serves, and the length of its lease in ms, or 0.
        """
        self._publish()
        batches = self._batches(next_offset)
        if batches is None:
            follower.start_over()
            batches = self._store.read(SHARD, 0)
        for batch in batches:
            follower.publish(batch, read_header(batch).next_offset)
        return self._published, self._followers.attach(follower, next_offset)

    def grant(self, follower: Follower) -> int:
        """Renew the lease of a loop. Return its length in ms, or -1 if it has to attach again."""
        return self._followers.grant(follower)

    def acknowledge(self, follower: Follower, next_offset: int) -> None:
        """Store that a loop has all records before this offset, and send the answers that waited for it."""
        if self._followers.acknowledge(follower, next_offset):
            self._release()

    def detach(self, follower: Follower) -> None:
        """Note that the link of a loop is lost. The loop may go on serving, so answers wait for it as before."""
        if self._followers.detach(follower):
            self._release()

    def loop_ended(self, loop: int, incarnation: int) -> None:
        """Note that a process of a loop has ended, and send the answers that waited for it."""
        self._followers.ended(loop, incarnation)
        self._release()

    # Internal.

    def _publish(self) -> None:
        end = self._store.end_offset(SHARD)
        batches = self._batches(self._published) if self._followers else ()
        if batches is None:
            self._drop(self._followers)
        for batch in batches or ():
            next_offset = read_header(batch).next_offset
            for follower in self._followers:
                follower.publish(batch, next_offset)
        self._published = end

    def _batches(self, start: int) -> Iterator[bytes] | None:
        """Return all batches from an offset on, or None if compaction has removed some of them."""
        # Start the read before the check, so that a layer published in between is always noticed.
        batches = self._store.read(SHARD, start)
        return batches if self._store.compacted_to(SHARD) <= start else None

    def _hold(self, answer: Callable[[], None], reply: Reply[Any]) -> None:
        offset = self._published
        if not self._followers.unaware(offset):
            answer()
            return
        self._held.append((offset, answer, reply))
        self._call_later(SLOW_S, lambda: self._review(offset, is_new=True))

    def _release(self) -> None:
        while self._held and not self._followers.unaware(self._held[0][0]):
            self._held.pop(0)[1]()

    def _review(self, offset: int, *, is_new: bool) -> None:
        """Give up followers whose lease is over while a change waits for them."""
        self._drop(self._followers.overdue(offset))
        if not self._held or self._held[0][0] > offset:
            return
        if is_new and self._held[0][0] == offset:
            loops = self._followers.unaware(offset)
            log.warning("change-waits", loops=loops, offset=offset, why="they may answer with what they knew before")
        if self._leasing.lease_ms:
            self._call_later(SLOW_S, lambda: self._review(offset, is_new=False))

    def _drop(self, followers: Iterable[Follower]) -> None:
        for follower in followers:
            self._followers.detach(follower)
            follower.drop()
        self._release()


def _state(shard: CatalogShard, offset: int) -> tuple[CatalogShard, int]:
    return shard, offset


def _refuse(reply: Reply[Any], error: ErrorCode, message: str | None) -> None:
    """Fail a change with the error that clients know of a node that is not the controller any more."""
    reply.fail(ErrorCode.NOT_CONTROLLER if error in _NOT_OWNER else error, message)
