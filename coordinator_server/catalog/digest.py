"""The digest of the catalog.

Each topic is an item: the key is its TopicRecord, the value its number of partitions (int32). Each setting is an item: the key is
its ConfigRecord without the value, the value is the setting's value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import Struct as Layout
from typing import Final

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.digest import digest_text, item_digest
from protocol.codec import encode
from protocol.messages.cluster_metadata import ConfigRecord, TopicRecord

_PARTITIONS: Final = Layout(">i")


def catalog_digest(topics: Iterable[Topic], settings: Iterable[tuple[tuple[int, str], Mapping[str, str]]] = ()) -> str:
    """Return the digest of all topics and all settings of resources."""
    total = sum(
        item_digest(encode(TopicRecord(topic.name, topic.topic_id), 0), _PARTITIONS.pack(topic.partitions)) for topic in topics
    )
    for resource, own in settings:
        for name, value in own.items():
            total += item_digest(encode(ConfigRecord(*resource, name, None), 0), value.encode())
    return digest_text(total)
