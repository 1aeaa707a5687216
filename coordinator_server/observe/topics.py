"""The cluster's topics as records of our own catalog, with its topic ids. A topic that is made again has another id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from coordinator_server.catalog.create import partition_records, topic_records
from coordinator_server.catalog.topics import Topic
from coordinator_server.kinds import CATALOG
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.timeline import LATEST
from coordinator_server.observe.cluster import ClusterTopic
from coordinator_server.pipeline.files.kafka.topics import made_up_id
from coordinator_server.pipeline.states.catalog import CatalogState
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, CoordinatorRecord
from protocol.fields import ZERO_UUID
from protocol.messages.cluster_metadata import RemoveTopicRecord

SHARD: Final = ShardId(CATALOG.topic, 0)
_BATCH_BYTES: Final = 256 * 1024


class ObservedTopics:
    """The topics that the catalog's log has."""

    def __init__(self, cluster_id: str, node_id: int) -> None:
        self._cluster_id = cluster_id
        self._node_id = node_id
        self._state = CatalogState()

    def replay(self, batches: Iterable[bytes]) -> None:
        """Take batches of the catalog's log, in order. Raises DecodeError."""
        for batch in batches:
            self._state.replay(batch)

    def changes(self, seen: Sequence[ClusterTopic], offset: int, now_ms: int) -> bytes:
        """Return the batches, at ``offset`` in the log, that make the topics what the cluster has; none if they are."""
        known = {each.name: each for each in self._state.shard.all_topics(LATEST)}
        there = {each.name: self._with_id(each) for each in seen}
        records: list[CoordinatorRecord] = []
        for name, topic in known.items():
            if name not in there or there[name].topic_id != topic.topic_id or there[name].partitions < topic.partitions:
                records.append(CoordinatorRecord(RemoveTopicRecord(topic.topic_id), None))
        for name, topic in there.items():
            before = known.get(name)
            if before is None or before.topic_id != topic.topic_id or topic.partitions < before.partitions:
                records += topic_records(name, topic.topic_id, topic.partitions, self._node_id)
            else:
                records += partition_records(topic.topic_id, range(before.partitions, topic.partitions), self._node_id)
        return _batches(records, offset, now_ms)

    def _with_id(self, topic: ClusterTopic) -> Topic:
        name, topic_id, partitions = topic
        return Topic(name, topic_id if topic_id != ZERO_UUID else made_up_id(self._cluster_id, name), partitions)


def _batches(records: Iterable[CoordinatorRecord], offset: int, now_ms: int) -> bytes:
    out: list[bytes] = []
    builder = BatchBuilder(offset, now_ms)
    for record in records:
        if builder.size > _BATCH_BYTES:
            out.append(builder.finish())
            builder = BatchBuilder(builder.next_offset, now_ms)
        builder.append(None, CLUSTER_METADATA_SERDE.encode_value(record))
    if builder.count:
        out.append(builder.finish())
    return b"".join(out)
