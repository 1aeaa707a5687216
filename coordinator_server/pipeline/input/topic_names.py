"""The names of topics by topic id, from the log of the catalog. Records of consumer groups have topic ids only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from coordinator_server.kinds import CATALOG
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.opening import job_shard
from coordinator_server.pipeline.input.files import batches_before, records_of
from protocol.coordinator_records import CLUSTER_METADATA_SERDE
from protocol.errors import DecodeError
from protocol.fields import Message
from protocol.messages.cluster_metadata import TopicRecord

CATALOG_SHARD = f"{CATALOG.topic}-0"


def catalog_records(data_dir: Path, upto: int) -> Iterator[tuple[int, Message]]:
    """Return the records of the catalog's log before an offset, each with its time in ms since 1970. Raises DamagedLog."""
    shard = job_shard(data_dir / CATALOG_SHARD)
    if upto <= 0 or not shard.exists():
        return
    try:
        for data, position, header in batches_before(shard.whole(upto)[1], upto):
            for record in records_of(data, position, header, with_headers=False) if not header.is_control else ():
                decoded = CLUSTER_METADATA_SERDE.decode(record.key, record.value)
                if decoded is not None:
                    yield record.timestamp, decoded.key
    except DecodeError as error:
        raise DamagedLog(CATALOG_SHARD, 0, f"a record that cannot be read: {error}") from error


def read_topic_names(data_dir: Path, upto: int) -> dict[bytes, str]:
    """Return the name of every topic that the catalog's log mentions before an offset, deleted topics too. Raises DamagedLog."""
    records = catalog_records(data_dir, upto)
    return {record.topic_id: record.name for _, record in records if isinstance(record, TopicRecord)}


class TopicNames:
    """The names, read when one is needed for the first time."""

    def __init__(self, data_dir: Path, upto: int) -> None:
        self._data_dir = data_dir
        self._upto = upto
        self._names: dict[bytes, str] | None = None

    def get(self, topic_id: bytes, /) -> str | None:
        """Return the name of a topic; None if it is unknown. Raises DamagedLog."""
        if self._names is None:
            self._names = read_topic_names(self._data_dir, self._upto)
        return self._names.get(topic_id)


NO_NAMES: Final = TopicNames(Path(), 0)
"""Knows no topic."""
