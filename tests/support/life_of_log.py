"""The life of a group in the log of a directory, as ``groups what-if`` reads it, and in that of a Kafka broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator_server.pipeline.index.answers import GroupHistory
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD, catalog_records
from coordinator_server.whatif.life import Life
from coordinator_server.whatif.reader import Batches, LifeReader
from coordinator_server.whatif.topics import TopicHistory
from protocol.coordinator_records import CLUSTER_METADATA_SERDE
from protocol.fields import Message
from protocol.record_batch import iter_batches, iter_records


def life_of(data_dir: Path, group_id: str) -> Life:
    """Of a directory without an index, whose server may run."""
    ends = durable(data_dir)
    topics = TopicHistory(catalog_records(data_dir, ends[CATALOG_SHARD]))
    history = GroupHistory(data_dir, group_id, pytest.fail)
    upto = ends[history.shard.name]

    def read(batches: Batches, begins_at: int) -> Life:
        reader = LifeReader(topics, group_id)
        reader.add(batches, upto)
        return reader.lives(begins_at)[group_id]

    return history.read(read, upto)


def life_of_broker(log_dir: Path, group_id: str) -> Life:
    """Of a broker that runs, or has run, on a directory; its log is not cleaned."""
    reader = LifeReader(TopicHistory(_catalog(log_dir)), group_id)
    for path in sorted(log_dir.glob("__consumer_offsets-*/*.log")):
        data = path.read_bytes()
        reader.add((data, position, header) for position, header in iter_batches(data))
    return reader.lives(0)[group_id]


def _catalog(log_dir: Path) -> Iterator[tuple[int, Message]]:
    for path in sorted(log_dir.glob("__cluster_metadata-0/*.log")):
        data = path.read_bytes()
        for position, header in iter_batches(data):
            for record in iter_records(data, position, header) if not header.is_control else ():
                decoded = CLUSTER_METADATA_SERDE.decode(record.key, record.value)
                if decoded is not None:
                    yield record.timestamp, decoded.key
