"""The catalogs of several loops in one thread: loop 0's runtime on a log in memory,
and messages that wait until a test delivers them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import count
from operator import itemgetter
from typing import Any

from coordinator_server.catalog.alter_configs import Operation, ResourceType
from coordinator_server.catalog.fold import CatalogFold
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.config import Config
from coordinator_server.kinds import CATALOG
from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import Failures
from coordinator_server.machine.shard import CoordinatorResult, Reply, RequestContext
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.pipeline.states.state import NoTime, no_id
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.lease import Gate
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.runtime.services import LoopServices, ShardServices, following
from coordinator_server.runtime.timers import ShardTimers, TimerQueue
from coordinator_server.server.cluster.catalog import PARTITION, SHARD, OwnCatalog
from coordinator_server.server.cluster.catalog_feed import Session
from coordinator_server.server.cluster.catalog_replica import CatalogReplica
from coordinator_server.server.cluster.followers import Leasing
from coordinator_server.server.cluster.messages import Records
from coordinator_server.server.cluster.neighbours import Identity
from coordinator_server.server.cluster.operations import ALTER_CONFIGS, CREATE_PARTITIONS, CREATE_TOPICS, DELETE_TOPICS
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import CoordinatorRecord
from protocol.fields import Message
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from protocol.messages.incremental_alter_configs import AlterableConfig, AlterConfigsResource, IncrementalAlterConfigsRequest
from protocol.record_batch import iter_records, read_header
from tests.support.clock import ManualClock
from tests.support.runtime import MemoryStore, Outcome

CONTEXT = RequestContext("client", "10.0.0.1", 19, 7)


def _put(shard: CatalogShard, context: RequestContext, request: Message, reply: Reply[Message]) -> CoordinatorResult[Message]:
    return CoordinatorResult(request, [CoordinatorRecord(request, None)])


_PUT: WriteOperation[CatalogShard, Message, Message] = WriteOperation("put", _put)


class OffsetStore(MemoryStore):
    """A log in memory that is read from an offset on; every submit is durable at once."""

    def __init__(self) -> None:
        super().__init__()
        self.is_instant = True
        # Whatever is written is compacted before anybody hears that it is durable.
        self.is_compacted_at_once = False
        self._compacted_to = 0

    def finish(self, failure: LogError | Failures | None = None) -> None:
        if self.is_compacted_at_once and self.open is not None:
            appends, done = self.open

            def compacted(outcome: Failures | None) -> None:
                self.compact()
                done(outcome)

            self.open = appends, compacted
        super().finish(failure)

    def read(self, shard: ShardId, from_offset: int, /) -> Iterator[bytes]:
        if self.damage is not None:
            raise self.damage
        return (batch for batch in self.logs.get(shard, []) if read_header(batch).next_offset > from_offset)

    def compacted_to(self, shard: ShardId, /) -> int:
        return self._compacted_to

    def compact(self) -> None:
        """Fold the catalog's log, up to its end."""
        shard = CatalogShard(config=Config(), registry=SnapshotRegistry(), timer=NoTime(), new_topic_id=no_id)
        fold = CatalogFold(shard)
        for batch in self.logs.get(SHARD, []):
            for record in iter_records(batch, 0, read_header(batch)):
                decoded = CATALOG.serde.decode(record.key, record.value)
                assert decoded is not None
                fold.add(record.offset, decoded)
        folded = sorted(fold.records(), key=itemgetter(0))
        self.logs[SHARD] = [encode_record(offset, CATALOG.serde.encode_value(record)) for offset, record in folded]
        self._compacted_to = self.end_offset(SHARD)


def encode_record(offset: int, value: bytes | None) -> bytes:
    """A batch of one record without a key."""
    builder = BatchBuilder(offset, 0)
    builder.append(None, value)
    return builder.finish()


class Wire:
    """What one end has sent and the other has not got yet. ``cut`` is a death of either."""

    def __init__(self) -> None:
        self.to_owner: deque[Any] = deque()
        self.to_follower: deque[Any] = deque()
        self.is_cut = False

    def send(self, message: object) -> None:
        self.to_follower.append(message)

    def close(self) -> None:
        self.is_cut = True


class Loops:
    """Loop 0 and as many followers as a test connects. ``store`` outlives ``restart``."""

    def __init__(self) -> None:
        self.store = OffsetStore()
        self.clock = ManualClock()
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.wires: dict[int, Wire] = {}
        self.sessions: dict[int, Session] = {}
        self.followers: dict[int, CatalogReplica] = {}
        self.gates: dict[int, Gate] = {}
        self.incarnations: dict[int, int] = {}
        self.lease_ms = 0
        # Whether the owner may still be the owner.
        self.may_grant = True
        self._changes: dict[int, TopicChanges] = {}
        self.diverged: list[str] = []
        self._ids = count(1)
        self.owner = self.restart()

    def restart(self, expected: Collection[int] = ()) -> OwnCatalog:
        """Loop 0 begins anew on its log; nobody is connected."""
        soon: deque[Callable[[], None]] = deque()
        timers = TimerQueue()
        flusher = Flusher(self.store, soon.append, lambda _failure: None)
        services = LoopServices(self.store, flusher, timers, self.clock, LoadQueue(soon.append, self.clock), has_provenance=False)
        self._changes.pop(0, None)
        build = partial(self._build, changes=self.changes_of(0))
        runtime = CoordinatorRuntime(CATALOG.topic, CATALOG.serde, build, services, max_batch_bytes=1 << 20)
        runtime.load(PARTITION, 1)
        self._soon = soon
        self._run()
        leasing = Leasing(self.clock.boot_ms, self.lease_ms, lambda: self.may_grant)
        self.owner = OwnCatalog(runtime, self.store, self._call_later, expected, leasing)
        return self.owner

    def changes_of(self, loop: int) -> TopicChanges:
        """Where the catalog of a loop notes the topics that its records change."""
        return self._changes.setdefault(loop, TopicChanges())

    def follower(self, loop: int) -> CatalogReplica:
        """A loop that has not connected yet."""
        timers = ShardTimers(TimerQueue(), self.clock, lambda _operation: None)

        def new_shard() -> CatalogShard:
            changes = self.changes_of(loop)
            return self._build(partition=PARTITION, registry=SnapshotRegistry(), services=following(timers), changes=changes)

        who = Identity(loop, self.incarnations.get(loop, 1))
        gate = self.gates[loop] = Gate(self.clock.boot_ms)
        made = CatalogReplica(who, new_shard, CATALOG.serde, self._call_later, self.diverged.append, gate)
        self.followers[loop] = made
        return made

    def connect(self, loop: int) -> CatalogReplica:
        """Connect a loop, and deliver nothing yet."""
        follower = self.followers.get(loop) or self.follower(loop)
        wire = self.wires[loop] = Wire()
        self.sessions[loop] = Session(self.owner, has_provenance=False)
        self.sessions[loop].link = wire
        follower.connected(wire.to_owner.append)
        return follower

    def attach(self, *loops: int) -> list[CatalogReplica]:
        """Connect loops and let them catch up."""
        followers = [self.connect(loop) for loop in loops]
        self.deliver()
        return followers

    def cut(self, loop: int) -> None:
        """The connection ends; what was under way is lost."""
        del self.wires[loop]
        self.sessions.pop(loop).gone()
        self.followers[loop].disconnected()

    def end(self, loop: int) -> None:
        """The process of a loop ends, and the supervisor says so."""
        self.cut(loop)
        incarnation = self.incarnations.get(loop, 1)
        self.incarnations[loop] = incarnation + 1
        del self.followers[loop]
        self.owner.loop_ended(loop, incarnation)

    def deliver(self, *but: int) -> None:
        """Let messages arrive until there are none left; loops in ``but`` hear nothing, and say nothing."""
        self._run()
        while any(self._deliver_some(loop) for loop in list(self.wires) if loop not in but):
            self._run()

    def batches_under_way(self, loop: int) -> int:
        return sum(isinstance(message, Records) for message in self.wires[loop].to_follower)

    def create(self, at: int, *names: str) -> Outcome:
        """CreateTopics through a loop."""
        outcome = Outcome()
        catalog = self.owner if at == 0 else self.followers[at]
        request = CreateTopicsRequest(topics=[CreatableTopic(name, 1, -1) for name in names])
        catalog.write(CREATE_TOPICS, CONTEXT, request, outcome)
        self._run()
        return outcome

    def delete(self, name: str) -> Outcome:
        """DeleteTopics at loop 0."""
        outcome = Outcome()
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name)])
        self.owner.write(DELETE_TOPICS, CONTEXT, request, outcome)
        self._run()
        return outcome

    def grow(self, name: str, partitions: int) -> Outcome:
        """CreatePartitions at loop 0, up to so many."""
        outcome = Outcome()
        request = CreatePartitionsRequest(topics=[CreatePartitionsTopic(name, partitions, None)])
        self.owner.write(CREATE_PARTITIONS, CONTEXT, request, outcome)
        self._run()
        return outcome

    def set_of_group(self, group_id: str, name: str, value: str) -> Outcome:
        """IncrementalAlterConfigs at loop 0: set one setting of a group."""
        outcome = Outcome()
        resource = AlterConfigsResource(ResourceType.GROUP, group_id, [AlterableConfig(name, Operation.SET, value)])
        self.owner.write(ALTER_CONFIGS, CONTEXT, IncrementalAlterConfigsRequest([resource]), outcome)
        self._run()
        return outcome

    def put(self, message: Message) -> Outcome:
        """Write a record at loop 0, without an operation's rules."""
        outcome = Outcome()
        self.owner.write(_PUT, CONTEXT, message, outcome)
        self._run()
        return outcome

    def pass_time(self, seconds: float) -> None:
        """What was to be done later than that is not due yet."""
        self.clock.advance(int(seconds * 1000))
        due = [call for delay, call in self.later if delay <= seconds]
        self.later = [(delay - seconds, call) for delay, call in self.later if delay > seconds]
        for call in due:
            call()

    def _deliver_some(self, loop: int) -> bool:
        wire = self.wires[loop]
        if wire.is_cut:
            self.cut(loop)
            return True
        if wire.to_owner:
            self.sessions[loop].received(wire.to_owner.popleft())
            return True
        if wire.to_follower:
            self.followers[loop].received(wire.to_follower.popleft())
            return True
        return False

    def _run(self) -> None:
        while self._soon:
            self._soon.popleft()()

    def _call_later(self, delay: float, call: Callable[[], None]) -> None:
        self.later.append((delay, call))

    def _build(
        self, *, partition: int, registry: SnapshotRegistry, services: ShardServices, changes: TopicChanges
    ) -> CatalogShard:
        def new_topic_id() -> bytes:
            return next(self._ids).to_bytes(16, "big")

        return CatalogShard(config=Config(), registry=registry, timer=services.timer, new_topic_id=new_topic_id, changes=changes)
