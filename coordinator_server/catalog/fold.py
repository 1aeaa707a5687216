"""Compaction of ``__cluster_metadata``: keeps the records of existing topics, and the last record of all else that still holds.

Kept records are unchanged, offset included, so replaying them gives the same catalog. All records of a removed topic are dropped,
including its RemoveTopicRecord. A reader that continues in the middle of such a log would miss the removal, and must start over.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final

from coordinator_server.catalog.alter_configs import Resource, ResourceType
from coordinator_server.catalog.families import FAMILIES
from coordinator_server.catalog.shard import CatalogShard
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.cluster_metadata import (
    ConfigRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    TopicRecord,
)

_Placed = tuple[int, CoordinatorRecord]
_STATED: Final = {each: (family, stated) for family in FAMILIES for each, stated in family.stated.items()}


class CatalogFold:
    """Replays records into a catalog, and collects those to keep."""

    def __init__(self, shard: CatalogShard) -> None:
        self._shard = shard
        # By topic id, then by partition; -1 is the TopicRecord.
        self._topics: dict[bytes, dict[int, _Placed]] = {}
        self._names: dict[bytes, str] = {}
        self._settings: dict[Resource, dict[str, _Placed]] = {}
        self._producer_ids: list[_Placed] = []
        self._stated: dict[tuple[str, Hashable], _Placed] = {}

    def add(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Replay one record."""
        self._shard.replay(offset, record)
        match record.key:
            case TopicRecord(name=name, topic_id=topic_id):
                self._names[topic_id] = name
                self._topics[topic_id] = {-1: (offset, record)}
            case PartitionRecord(partition_id=partition, topic_id=topic_id):
                self._topics[topic_id][partition] = (offset, record)
            case RemoveTopicRecord(topic_id=topic_id):
                del self._topics[topic_id]
                self._settings.pop((ResourceType.TOPIC, self._names.pop(topic_id)), None)
            case ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=value):
                settings = self._settings.setdefault((kind, resource), {})
                settings.pop(name, None)
                if value is not None:
                    settings[name] = (offset, record)
            case ProducerIdsRecord():
                self._producer_ids = [(offset, record)]
            case message if type(message) in _STATED:
                family, stated = _STATED[type(message)]
                key, is_removal = stated(message)
                if is_removal:
                    self._stated.pop((family.name, key), None)
                else:
                    self._stated[family.name, key] = (offset, record)

    def records(self) -> Iterator[_Placed]:
        """Yield the records to keep with their offsets, in no particular order."""
        for of_topic in self._topics.values():
            yield from of_topic.values()
        for of_resource in self._settings.values():
            yield from of_resource.values()
        yield from self._producer_ids
        yield from self._stated.values()
