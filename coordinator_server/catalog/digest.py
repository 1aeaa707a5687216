"""The digest of the catalog.

Each topic is an item: the key is its TopicRecord, the value its number of partitions (int32). Each setting is an item: the key is
its ConfigRecord without the value, the value is the setting's value. The next producer id is an item if ids have been given out:
the key is an empty ProducerIdsRecord, the value the id (int64). Each user's credential, each ACL and each quota is an item: the
key is Kafka's record as it is in the log, with its frame, at version 0; the value is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import Struct as Layout
from typing import Final

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.digest import digest_text, item_digest
from protocol.codec import encode
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, CoordinatorRecord
from protocol.fields import Message
from protocol.messages.cluster_metadata import ConfigRecord, ProducerIdsRecord, TopicRecord

_PARTITIONS: Final = Layout(">i")
_PRODUCER_ID: Final = Layout(">q")


def catalog_digest(
    topics: Iterable[Topic],
    settings: Iterable[tuple[tuple[int, str], Mapping[str, str]]] = (),
    next_producer_id: int = 0,
    records: Iterable[Message] = (),
) -> str:
    """Return the digest of all topics, all settings of resources, the next producer id, and the records of families."""
    total = sum(
        item_digest(encode(TopicRecord(topic.name, topic.topic_id), 0), _PARTITIONS.pack(topic.partitions)) for topic in topics
    )
    for resource, own in settings:
        for name, value in own.items():
            total += item_digest(encode(ConfigRecord(*resource, name, None), 0), value.encode())
    if next_producer_id:
        total += item_digest(encode(ProducerIdsRecord(), 0), _PRODUCER_ID.pack(next_producer_id))
    for record in records:
        total += item_digest(CLUSTER_METADATA_SERDE.encode_value(CoordinatorRecord(record, None)), b"")
    return digest_text(total)
