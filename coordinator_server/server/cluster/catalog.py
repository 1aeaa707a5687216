"""What every loop knows of the whole cluster, as handlers use it; and how loop 0, which owns its log, keeps it the same at all loops.

A change is answered when it is durable and every loop that serves clients has it:

    write ── durable ── publish to the followers ── all have acknowledged that much ──► answer
                                        └── one has not within PATIENCE_S: it is dropped, and knows itself stale until it is back

A follower is a loop that tails this log. Compaction drops the records of removed topics, and those that removed them. So a follower
whose next offset is below the end of the newest layer is sent the whole log, and starts over. One that dies is forgotten with its connection. One that starts, or was dropped, serves after it
has caught up. When loop 0 itself is new and others serve already, these are ``expected``: until they are back, or patience ends,
nothing is answered that they could not know.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, Protocol, TypeVar

import structlog

from coordinator_server.catalog.alter_configs import Own, Resource
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import DeletedTopic, Topic
from coordinator_server.kinds import CATALOG
from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import LogStore
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.server.callback_reply import CallbackReply
from protocol.error_codes import ErrorCode
from protocol.messages.delete_topics import DeleteTopicsResponse
from protocol.record_batch import read_header

log = structlog.get_logger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")

PARTITION: Final = 0
SHARD: Final = ShardId(CATALOG.topic, PARTITION)
# How long a change waits for a loop that is there and does not answer: it is stopped, or starved.
PATIENCE_S: Final = 2.0

TopicsDeleted = Callable[[Sequence[DeletedTopic]], None]
CallLater = Callable[[float, Callable[[], None]], object]


class Catalog(Protocol):
    """Topics, as this loop knows them, and the way to change them."""

    @property
    def is_current(self) -> bool:
        """Whether what is unknown here is unknown everywhere."""

    def topic(self, name: str) -> Topic | None:
        """A topic as committed."""

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        """A topic as committed."""

    def all_topics(self) -> list[Topic]:
        """Every topic, by name."""

    def settings(self, resource: Resource) -> Own:
        """What a topic or a group has of its own."""

    def with_settings(self, kind: int) -> list[str]:
        """The resources of a type that have settings of their own."""

    def write(
        self, operation: WriteOperation[CatalogShard, Q, R], context: RequestContext, request: Q, reply: Reply[R], /
    ) -> None:
        """Run a change; ``reply`` is answered when it is durable and all loops know of it."""


class Follower(Protocol):
    """Another loop, as loop 0 sees it."""

    @property
    def loop(self) -> int:
        """Its number."""

    def start_over(self) -> None:
        """Say that the whole log follows, from its first record on."""

    def publish(self, batch: bytes, next_offset: int, /) -> None:
        """Send a durable batch; ``next_offset`` comes after it."""

    def drop(self) -> None:
        """Hang up."""


class OwnCatalog:
    """Loop 0's, and that of a server with one loop."""

    def __init__(
        self,
        runtime: CoordinatorRuntime[CatalogShard],
        store: LogStore,
        call_later: CallLater,
        expected: Collection[int] = (),
    ) -> None:
        self._runtime = runtime
        self._store = store
        self._call_later = call_later
        self._published = 0
        self._expected = set(expected)
        self._acknowledged: dict[Follower, int] = {}
        self._held: list[tuple[int, Callable[[], None]]] = []
        # Told of the topics that are gone for good: what groups committed for them goes, too.
        self.on_deleted: TopicsDeleted = lambda _topics: None
        # Told of every change, when it is durable and before it is answered.
        self.on_changed: Callable[[], None] = lambda: None

    @property
    def is_current(self) -> bool:
        """Always: this is where changes are made."""
        return True

    def topic(self, name: str) -> Topic | None:
        """A topic as committed. Raises CoordinatorError while the catalog loads."""
        return self._runtime.read(PARTITION, CatalogShard.topic, name)

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        """A topic as committed. Raises CoordinatorError while the catalog loads."""
        return self._runtime.read(PARTITION, CatalogShard.topic_by_id, topic_id)

    def all_topics(self) -> list[Topic]:
        """Every topic, by name. Raises CoordinatorError while the catalog loads."""
        return self._runtime.read(PARTITION, CatalogShard.all_topics)

    def settings(self, resource: Resource) -> Own:
        """What a topic or a group has of its own. Raises CoordinatorError while the catalog loads."""
        return self._runtime.read(PARTITION, CatalogShard.settings, resource)

    def with_settings(self, kind: int) -> list[str]:
        """The resources of a type that have settings of their own. Raises CoordinatorError while the catalog loads."""
        return self._runtime.read(PARTITION, CatalogShard.with_settings, kind)

    def write(
        self, operation: WriteOperation[CatalogShard, Q, R], context: RequestContext, request: Q, reply: Reply[R], /
    ) -> None:
        """Run a change here."""

        def durable(response: Any) -> None:
            if isinstance(response, DeleteTopicsResponse):
                self.on_deleted(
                    [DeletedTopic(each.name or "", each.topic_id) for each in response.responses if not each.error_code]
                )
            self.on_changed()
            try:
                self._publish()
            except LogError as error:
                log.error("catalog-not-published", why=str(error), action="other loops read it when they are back")
                self._drop(list(self._acknowledged))
                reply.fail(ErrorCode.REQUEST_TIMED_OUT, "the change was made, and not all nodes know of it yet")
            else:
                self._hold(lambda: reply.complete(response))

        self._runtime.write(PARTITION, operation, context, request, CallbackReply(durable, reply.fail))

    # What the followers' connections call.

    def attach(self, follower: Follower, next_offset: int) -> int:
        """A loop tails the log from an offset on; the end as of now, which it has to reach before it serves."""
        self._publish()
        batches = self._batches(next_offset)
        if batches is None:
            follower.start_over()
            batches = self._store.read(SHARD, 0)
        for batch in batches:
            follower.publish(batch, read_header(batch).next_offset)
        self._acknowledged[follower] = next_offset
        self._expected.discard(follower.loop)
        return self._published

    def acknowledge(self, follower: Follower, next_offset: int) -> None:
        """A loop knows everything before this offset."""
        if follower in self._acknowledged:
            self._acknowledged[follower] = next_offset
            self._release()

    def detach(self, follower: Follower) -> None:
        """A loop is gone: nobody waits for it."""
        if self._acknowledged.pop(follower, None) is not None:
            self._release()

    # In between.

    def _publish(self) -> None:
        end = self._store.end_offset(SHARD)
        batches = self._batches(self._published) if self._acknowledged else ()
        if batches is None:
            self._drop(list(self._acknowledged))
        for batch in batches or ():
            next_offset = read_header(batch).next_offset
            for follower in list(self._acknowledged):
                follower.publish(batch, next_offset)
        self._published = end

    def _batches(self, start: int) -> Iterator[bytes] | None:
        """All batches from an offset on; None if compaction has removed some of them."""
        # Read first: a layer that is published in between is noticed, whether it was read or not.
        batches = self._store.read(SHARD, start)
        return batches if self._store.compacted_to(SHARD) <= start else None

    def _hold(self, answer: Callable[[], None]) -> None:
        if self._is_known_to_all(self._published):
            answer()
            return
        self._held.append((self._published, answer))
        offset = self._published
        self._call_later(PATIENCE_S, lambda: self._lose_patience(offset))

    def _is_known_to_all(self, offset: int) -> bool:
        return not self._expected and all(known >= offset for known in self._acknowledged.values())

    def _release(self) -> None:
        while self._held and self._is_known_to_all(self._held[0][0]):
            self._held.pop(0)[1]()

    def _lose_patience(self, offset: int) -> None:
        if not self._held or self._held[0][0] > offset:
            return
        slow = [follower for follower, known in self._acknowledged.items() if known < offset]
        absent = sorted({*self._expected, *(follower.loop for follower in slow)})
        log.warning("loops-left-behind", loops=absent, offset=offset, why=f"no acknowledgement within {PATIENCE_S} s")
        self._expected.clear()
        self._drop(slow)

    def _drop(self, followers: Iterable[Follower]) -> None:
        for follower in followers:
            del self._acknowledged[follower]
            follower.drop()
        self._release()
