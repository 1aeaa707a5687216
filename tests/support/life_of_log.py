"""The life of a group in the log of a directory, as ``groups what-if`` reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator_server.pipeline.index.answers import GroupHistory
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD, catalog_records
from coordinator_server.whatif.life import Life
from coordinator_server.whatif.reader import Batches, LifeReader
from coordinator_server.whatif.topics import TopicHistory


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
