"""The metadata hash of a group:
one number for the topics that it subscribes to (``Utils.computeGroupHash`` and ``computeTopicHash``).

A group keeps the hash in its log. When the hash of the present topics differs, the group gets a new epoch and a new
assignment. Both hashes are XXH3 with 64 bits:

    topic    0, id, name as UTF-16 and its length, number of partitions, the number of each partition
    group    the hashes of the topics that exist, in the order of their names; without any the hash is 0

All numbers are little-endian: 1 byte for the 0, which is the version of the layout, 8 for a hash and for each half of an id, 4 for
others. In Kafka the racks of its replicas follow each partition. Here are none, because the server has no racks.
"""

from __future__ import annotations

import sys
from array import array
from codecs import utf_16_le_encode
from collections.abc import Iterable
from functools import lru_cache
from struct import Struct
from typing import Final

from xxhash import xxh3_64_intdigest

from coordinator_server.catalog.topics import Topic
from coordinator_server.group.common.topics import TopicImage

NO_TOPIC: Final = 0
"""The hash of a group without a topic that exists."""
_LAYOUT: Final = b"\0"
_INT: Final = Struct("<i")
_LONG: Final = Struct("<q")
_INT64: Final = 1 << 63


class TopicHashes:
    """The hashes of topics and of groups. The hash of each topic is computed once for each change of it."""

    __slots__ = ("_known", "_topics")

    def __init__(self, topics: TopicImage) -> None:
        self._topics = topics
        self._known: dict[str, tuple[Topic, int]] = {}

    def of_group(self, names: Iterable[str]) -> int:
        """Return the metadata hash of a group that subscribes to these topics. Raises CoordinatorError while the catalog loads."""
        image = self._topics
        found = [topic for name in sorted(names) if (topic := image.topic(name)) is not None]
        return group_hash([self.of_topic(topic) for topic in found])

    def forget(self, names: Iterable[str]) -> None:
        """Drop the hashes of topics that have changed or are gone."""
        for name in names if self._known else ():
            self._known.pop(name, None)

    def of_topic(self, topic: Topic) -> int:
        """Return the hash of a topic, and keep it."""
        known = self._known.get(topic.name)
        if known is not None and known[0] is topic:
            return known[1]
        found = topic_hash(topic)
        self._known[topic.name] = (topic, found)
        return found


def topic_hash(topic: Topic) -> int:
    """Return the hash of a topic, as a number with a sign."""
    # ``str.encode`` looks for this codec by its name each time.
    (name, _), topic_id = utf_16_le_encode(topic.name), topic.topic_id
    # The id's halves are big-endian.
    parts = (_LAYOUT, topic_id[7::-1], topic_id[:7:-1], name, _INT.pack(len(name) // 2), _numbers(topic.partitions))
    return _signed(xxh3_64_intdigest(b"".join(parts)))


@lru_cache(maxsize=16)
def _numbers(partitions: int) -> bytes:
    """Return the number of partitions, and the number of each. Most topics have one of a few sizes."""
    numbers = array("i", range(partitions))
    if sys.byteorder == "big":
        numbers.byteswap()
    return _INT.pack(partitions) + numbers.tobytes()


def group_hash(topics: list[int]) -> int:
    """Return the hash of a group from those of its topics, in the order of their names."""
    return _signed(xxh3_64_intdigest(b"".join(map(_LONG.pack, topics)))) if topics else NO_TOPIC


def _signed(digest: int) -> int:
    return digest - 2 * _INT64 if digest >= _INT64 else digest
