"""The share partitions of a group: those that have a state in ``__share_group_state``, those that get one, and those that lose it.

They are in one record of the group (ShareGroupStatePartitionMetadata). Topics in *initializing* and in *deleting* are intents
(``machine/outbox.py``): the record comes first, the messages follow (``initialization.py``, ``deletion.py``).
The orders are those of Kafka's hash tables, so that the records are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.group.assign.hash_table import order_numbers
from coordinator_server.group.assign.order import (
    buckets_for,
    buckets_of_copy,
    by_bucket,
    order_topic_ids,
)
from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.common.partition_sets import read_partitions
from coordinator_server.group.common.topics import TopicImage
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.share_group_records import (
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    TopicInfo,
    TopicPartitionsInfo,
)

UNKNOWN_NAME: Final = "<UNKNOWN>"
"""What a record has as the name of a topic that does not exist."""


class NamedPartitions(NamedTuple):
    """A topic's name and some of its partitions."""

    name: str
    partitions: list[int]


TopicsWithPartitions = Mapping[bytes, NamedPartitions]


class StateTopics(Struct, frozen=True):
    """The record's value by topic id. ``deleting`` has the topics' ids only."""

    initializing: TopicsWithPartitions = {}
    initialized: TopicsWithPartitions = {}
    deleting: tuple[bytes, ...] = ()

    def initialized_partitions(self) -> Partitions:
        """Return the initialized partitions by topic."""
        return {topic_id: topic.partitions for topic_id, topic in self.initialized.items()}


NO_STATE_TOPICS: Final = StateTopics()


def state_topics_of(value: ShareGroupStatePartitionMetadataValue) -> StateTopics:
    """Return the topics of a record."""
    return StateTopics(
        _read(value.initializing_topics),
        _read(value.initialized_topics),
        tuple(order_topic_ids(topic.topic_id for topic in value.deleting_topics)),
    )


def state_topics_record(group_id: str, topics: StateTopics, image: TopicImage) -> CoordinatorRecord:
    """Return the record of a group's topics. ``image`` has the names of those that are deleted."""
    value = ShareGroupStatePartitionMetadataValue(
        _listed(topics.initializing),
        _listed(topics.initialized),
        [TopicInfo(topic_id, name_of(image, topic_id)) for topic_id in order_topic_ids(topics.deleting)],
    )
    return CoordinatorRecord(ShareGroupStatePartitionMetadataKey(group_id), value)


def name_of(image: TopicImage, topic_id: bytes) -> str:
    """Return the name of a topic, as a record has it."""
    topic = image.topic_by_id(topic_id)
    return UNKNOWN_NAME if topic is None else topic.name


def combine(one: TopicsWithPartitions, other: TopicsWithPartitions) -> TopicsWithPartitions:
    """Return the partitions of both. The names are those of ``other`` (``GroupMetadataManager.combineInitMaps``)."""
    found: dict[bytes, NamedPartitions] = {}
    for topic_id in _order_of_union(one, other):
        mine, more = one.get(topic_id), other.get(topic_id)
        if mine is None or more is None:
            topic = mine or more
            assert topic is not None
            found[topic_id] = NamedPartitions(topic.name, _copied(topic.partitions))
        else:
            known = set(mine.partitions)
            added = [partition for partition in more.partitions if partition not in known]
            found[topic_id] = NamedPartitions(more.name, _copied(mine.partitions, added))
    return {topic_id: found[topic_id] for topic_id in by_bucket(found, buckets_for(len(found)))}


def without(topics: TopicsWithPartitions, removed: Mapping[bytes, Iterable[int]]) -> TopicsWithPartitions:
    """Return the topics without some partitions. A topic that has none left is left out."""
    found: dict[bytes, NamedPartitions] = {}
    for topic_id, topic in topics.items():
        gone = removed.get(topic_id)
        partitions = topic.partitions if gone is None else _without(topic.partitions, gone)
        if partitions:
            found[topic_id] = NamedPartitions(topic.name, partitions)
    return found


def _without(partitions: list[int], gone: Iterable[int]) -> list[int]:
    present, taken = set(partitions), set(gone)
    return order_numbers(buckets_of_copy(len(partitions)), [*partitions, *(~each for each in taken if each in present)])


def _read(topics: Iterable[TopicPartitionsInfo]) -> TopicsWithPartitions:
    names = {topic.topic_id: topic.topic_name for topic in topics}
    partitions = read_partitions((topic.topic_id, topic.partitions) for topic in topics)
    return {topic_id: NamedPartitions(names[topic_id], numbers) for topic_id, numbers in partitions.items()}


def _listed(topics: TopicsWithPartitions) -> list[TopicPartitionsInfo]:
    return [TopicPartitionsInfo(topic_id, topic.name, list(topic.partitions)) for topic_id, topic in topics.items()]


def _copied(partitions: list[int], added: Iterable[int] = ()) -> list[int]:
    return order_numbers(buckets_of_copy(len(partitions)), [*partitions, *added])


def _order_of_union(one: TopicsWithPartitions, other: TopicsWithPartitions) -> list[bytes]:
    """Return the order of a HashSet of the topics of ``one``, to which those of ``other`` were added."""
    topic_ids = dict.fromkeys([*one, *other])
    return by_bucket(topic_ids, buckets_for(len(topic_ids), buckets_of_copy(len(one))))
