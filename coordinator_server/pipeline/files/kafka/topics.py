"""The topics of an imported cluster, as records of our own ``__cluster_metadata``:
names, ids and numbers of partitions; and its users.

If the broker's directories have a metadata log (``__cluster_metadata-0``), topics are read from its newest snapshot and the
segments after it. Otherwise topics are derived from committed offsets: the number of partitions from the highest partition, and
the id from the newest offset that has one.
A topic without an id gets one that is computed from the cluster's id and the topic's name.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from coordinator_server.catalog.create import topic_records
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import Topic
from coordinator_server.config import Config
from coordinator_server.kinds import KINDS
from coordinator_server.log.errors import DamagedLog
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.files.kafka.files import Partition, newest_snapshot, offset_of
from coordinator_server.pipeline.states.state import NoTime
from coordinator_server.topic_names import name_problem
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, CoordinatorRecord
from protocol.errors import DecodeError
from protocol.fields import ZERO_UUID, Message
from protocol.messages.cluster_metadata import ProducerIdsRecord
from protocol.record_batch import iter_batches, iter_records, read_header

# Maximum number of partitions of a topic derived from offsets. More are a mistake of a client:
# a commit may name any partition of a topic.
MAX_PARTITIONS: Final = 100_000
_BATCH_BYTES: Final = 256 * 1024


class BrokerMetadata(NamedTuple):
    """What a broker's metadata log says.

    ``topics`` are those of clients, by name; ``internal`` has the number of partitions of each internal topic, by name.
    ``next_producer_id`` is above all producer ids that the cluster has given to its brokers.
    ``records`` are its users, ACLs and quotas.
    """

    topics: list[Topic]
    internal: dict[str, int]
    next_producer_id: int
    records: list[Message]


class TopicsOfOffsets:
    """Collects topics from committed offsets."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, int, bytes]] = {}

    def add(self, name: str, partition: int, topic_id: bytes, commit_ms: int) -> None:
        """Add one committed offset."""
        partitions, newest_ms, known_id = self._seen.get(name, (0, -1, ZERO_UUID))
        if topic_id != ZERO_UUID and commit_ms >= newest_ms:
            newest_ms, known_id = commit_ms, topic_id
        self._seen[name] = max(partitions, partition + 1), newest_ms, known_id

    def topics(self, cluster_id: str) -> list[Topic]:
        """Return all topics, by name. Raises CannotRun if offsets name more partitions than topics can have."""
        found = [
            Topic(name, topic_id if topic_id != ZERO_UUID else made_up_id(cluster_id, name), partitions)
            for name, (partitions, _, topic_id) in sorted(self._seen.items())
            if name not in KINDS and name_problem(name) is None
        ]
        largest = max(found, key=lambda topic: topic.partitions, default=None)
        total = sum(topic.partitions for topic in found)
        if largest is not None and (largest.partitions > MAX_PARTITIONS or total > Config().live.topics_max_partitions):
            raise CannotRun(
                f"a committed offset names partition {largest.partitions - 1} of topic {largest.name}, which cannot be right: "
                "delete it "
                "(kafka-consumer-groups.sh --delete-offsets), or import from a directory with __cluster_metadata-0, which has the "
                "topics"
            )
        return found


def read_metadata(log: Partition) -> BrokerMetadata:
    """Read a broker's metadata log, from its newest snapshot on. Raises DamagedLog."""
    catalog = CatalogShard(config=Config(), registry=SnapshotRegistry(), timer=NoTime(), new_topic_id=lambda: ZERO_UUID)
    start = 0
    snapshot = newest_snapshot(log.directory)
    if snapshot is not None:
        start = offset_of(snapshot)
        _replay(catalog, _snapshot_batches(snapshot), snapshot)
    for batch in log.batches():
        if batch.header.next_offset > start:
            data = batch.data[batch.position : batch.position + batch.header.size]
            _replay(catalog, [data], batch.path, from_offset=start)
    topics = catalog.all_topics(LATEST)
    internal = {topic.name: topic.partitions for topic in topics if topic.name in KINDS}
    of_clients = [topic for topic in topics if topic.name not in KINDS]
    records = catalog.families.all_records(LATEST)
    return BrokerMetadata(of_clients, internal, catalog.next_producer_id(LATEST), records)


def catalog_segment(
    topics: Iterable[Topic], node_id: int, next_producer_id: int, now_ms: int, records: Iterable[Message] = ()
) -> bytes:
    """Return the batches of a metadata log that creates these topics, and gives out producer ids from ``next_producer_id`` on.

    ``records`` are written too: users, ACLs and quotas.
    """
    out: list[bytes] = []
    builder = BatchBuilder(0, now_ms)
    of_topics = (topic_records(topic.name, topic.topic_id, topic.partitions, node_id) for topic in topics)
    messages = [ProducerIdsRecord(node_id, next_producer_id=next_producer_id), *records]
    for record in chain((CoordinatorRecord(each, None) for each in messages), *of_topics):
        if builder.size > _BATCH_BYTES:
            out.append(builder.finish())
            builder = BatchBuilder(builder.next_offset, now_ms)
        builder.append(None, CLUSTER_METADATA_SERDE.encode_value(record))
    out.append(builder.finish())
    return b"".join(out)


def _replay(catalog: CatalogShard, batches: Iterable[bytes], path: Path, from_offset: int = 0) -> None:
    """Replay batches from ``from_offset`` on: the batch in which a snapshot ends has records that are in the snapshot, too."""
    try:
        for data in batches:
            header = read_header(data)
            for record in () if header.is_control else iter_records(data, 0, header):
                decoded = CLUSTER_METADATA_SERDE.decode(record.key, record.value)
                if decoded is not None and record.offset >= from_offset:
                    catalog.replay(record.offset, decoded)
    except (DecodeError, KeyError) as error:
        why = (
            f"topics cannot be read from it ({error}); import from a copy without this directory: topics are then named by the "
            "offsets"
        )
        raise DamagedLog(str(path), 0, why) from error


def _snapshot_batches(path: Path) -> Iterator[bytes]:
    data = path.read_bytes()
    for position, header in iter_batches(data):
        yield data[position : position + header.size]


def made_up_id(cluster_id: str, name: str) -> bytes:
    """Return the id of a topic that its cluster gives none: the same for the same cluster and name."""
    return uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_OID, cluster_id), name).bytes
