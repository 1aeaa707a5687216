"""The digest of the catalog: one item for each topic, its TopicRecord as the key and its number of partitions (int32) as the value."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout
from typing import Final

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.digest import digest_text, item_digest
from protocol.codec import encode
from protocol.messages.cluster_metadata import TopicRecord

_PARTITIONS: Final = Layout(">i")


def topics_digest(topics: Iterable[Topic]) -> str:
    """The sum over the topics."""
    total = sum(
        item_digest(encode(TopicRecord(topic.name, topic.topic_id), 0), _PARTITIONS.pack(topic.partitions)) for topic in topics
    )
    return digest_text(total)
