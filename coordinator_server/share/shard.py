"""ShareShard: one partition of ``__share_group_state`` as a state machine (Kafka's ``ShareCoordinatorShard``).

Each operation is about one share partition: the handlers divide the requests of clients (``server/apis/share_state.py``). A read is
a write operation, too, as in Kafka: it may raise the leader epoch, and it sees writes that are not durable yet,
for which its answer waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.machine.digest import StateDigest, digest_text
from coordinator_server.machine.shard import (
    Clock,
    CoordinatorResult,
    CoordinatorShard,
    CoordinatorTimer,
    PlainRecords,
    Reply,
    RequestContext,
)
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.share import many_partitions
from coordinator_server.share.bulk import SnapshotReplay
from coordinator_server.share.context import ONLY_REPLAYS, ShareContext
from coordinator_server.share.digest import share_partition_digest
from coordinator_server.share.initialize import delete_state, initialize_state
from coordinator_server.share.partitions import SharePartitions
from coordinator_server.share.read import read_state, summary
from coordinator_server.share.requests import Initialization, Summary
from coordinator_server.share.share_partition import SharePartition, after_snapshot, after_update, first_update, snapshot_state
from coordinator_server.share.topics import NO_TOPICS, TopicsById, TopicsSinceLoad
from coordinator_server.share.upkeep import ColdStates, DeletedTopics
from coordinator_server.share.write import write_state
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from protocol.plain_share_states import Found, Read, Write
from protocol.share_partition_names import SharePartitionKey, coordinator_key, key_of, name_of
from protocol.share_state_rows import rows_of

# The defaults of Kafka's share.coordinator properties.
UPDATES_PER_SNAPSHOT: Final = 500
COLD_AFTER_MS: Final = 300_000


class ShareShard(CoordinatorShard):
    """Share partitions by group, topic and partition. A shard without timers and a clock only replays."""

    def __init__(  # noqa: PLR0913 - services with names
        self,
        *,
        registry: SnapshotRegistry,
        timer: CoordinatorTimer = ONLY_REPLAYS,
        clock: Clock = ONLY_REPLAYS,
        topics: TopicsById = NO_TOPICS,
        updates_per_snapshot: int = UPDATES_PER_SNAPSHOT,
        cold_after_ms: int = COLD_AFTER_MS,
        delay_ms: int = 0,
    ) -> None:
        """``delay_ms`` delays the passes over all share partitions, so that the shards of a loop do not begin theirs at once."""
        self.updates_per_snapshot = updates_per_snapshot
        self._delay_ms = delay_ms
        self._partitions = SharePartitions(registry)
        self._context = ShareContext(self._partitions, TopicsSinceLoad(topics), clock, updates_per_snapshot)
        self._deleted_topics = DeletedTopics(self._context, timer)
        self._cold_states = ColdStates(self._context, timer, cold_after_ms)

    # Write operations

    def initialize_state(self, context: RequestContext, request: Initialization, reply: Reply[None]) -> CoordinatorResult[None]:
        """Begin anew with a share partition."""
        return CoordinatorResult(None, initialize_state(self._context, request))

    def write_state(self, context: RequestContext, request: Write, reply: Reply[bytes]) -> CoordinatorResult[bytes]:
        """Change the state of a share partition. Return the name of that."""
        return CoordinatorResult(request.name, write_state(self._context, request))

    def read_state(self, context: RequestContext, request: Read, reply: Reply[Found]) -> CoordinatorResult[Found]:
        """Return the state of a share partition, for its leader."""
        return read_state(self._context, request)

    def read_summary(self, context: RequestContext, name: bytes, reply: Reply[Summary]) -> CoordinatorResult[Summary]:
        """Return where a share partition starts."""
        return CoordinatorResult(summary(self._context, name))

    def delete_state(self, context: RequestContext, name: bytes, reply: Reply[None]) -> CoordinatorResult[None]:
        """Remove the state of a share partition, if there is one."""
        record = delete_state(self._context, name)
        return CoordinatorResult(None) if record is None else CoordinatorResult(None, record)

    def initialize_new(
        self, context: RequestContext, requests: Sequence[Initialization], reply: Reply[list[ErrorCode]]
    ) -> CoordinatorResult[list[ErrorCode]]:
        """Initialize share partitions, for their group. Each has its own answer; what is as requested stays."""
        return many_partitions.initialize_new(self._context, requests)

    def delete_states(
        self, context: RequestContext, names: Sequence[bytes], reply: Reply[list[ErrorCode]]
    ) -> CoordinatorResult[list[ErrorCode]]:
        """Remove states, for their group. Each has its own answer."""
        return many_partitions.delete_states(self._context, names)

    def summarize_states(
        self, context: RequestContext, names: Sequence[bytes], reply: Reply[list[Summary | ErrorCode]]
    ) -> CoordinatorResult[list[Summary | ErrorCode]]:
        """Return where share partitions start, for their group."""
        return many_partitions.summarize_states(self._context, names)

    def delete_topics(
        self, context: RequestContext, topics: Sequence[DeletedTopic], reply: Reply[None]
    ) -> CoordinatorResult[None]:
        """Remove the states of deleted topics. Answered after the first step; the others follow by timer."""
        return self._deleted_topics.begin()

    # Read operations

    def share_partition(self, committed_offset: int, key: SharePartitionKey) -> SharePartition | None:
        """Return the state of a share partition, or None."""
        return self._partitions.get_at(name_of(key), committed_offset)

    def share_partitions(self, committed_offset: int) -> Iterator[tuple[SharePartitionKey, SharePartition]]:
        """Yield every share partition, in no particular order."""
        for name, state in self._partitions.items_at(committed_offset):
            yield key_of(name), state

    def digest(self, committed_offset: int, max_items: int = LATEST, with_parts: bool = False) -> StateDigest:
        """Return the digest of all share partitions. It is never split into steps."""
        items = {key: share_partition_digest(key, state) for key, state in self.share_partitions(committed_offset)}
        parts = {coordinator_key(key): digest_text(item) for key, item in items.items()} if with_parts else {}
        return StateDigest(committed_offset, digest_text(sum(items.values())), parts)

    # The shard's contract

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record."""
        match record.key, record.value:
            case ShareSnapshotKey(group_id=group_id, topic_id=topic_id, partition=partition), value:
                name = name_of(SharePartitionKey(group_id, topic_id, partition))
                if isinstance(value, ShareSnapshotValue):
                    known = self._partitions.get(name)
                    self._partitions.put(name, after_snapshot(known, snapshot_state(value), self.updates_per_snapshot))
                else:
                    self._partitions.put(name, None)
            case ShareUpdateKey(group_id=group_id, topic_id=topic_id, partition=partition), ShareUpdateValue() as value:
                name = name_of(SharePartitionKey(group_id, topic_id, partition))
                known = self._partitions.get(name)
                self._partitions.put(name, first_update(value) if known is None else _updated(known, value))

    def plain_records(self) -> PlainRecords:
        """Return the fast replay of first snapshots, the most frequent records of a compacted log."""
        return SnapshotReplay(self._partitions)

    def on_loaded(self) -> None:
        """Start to look for deleted topics and for cold states."""
        self._context.topics.note_load()
        self._deleted_topics.start(self._delay_ms)
        self._cold_states.start(self._delay_ms)

    def on_unloaded(self) -> None:
        """Do nothing: timers end with the shard."""


def _updated(known: SharePartition, value: ShareUpdateValue) -> SharePartition:
    rows = rows_of(value.state_batches)
    return after_update(known, value.leader_epoch, value.start_offset, value.delivery_complete_count, rows)
