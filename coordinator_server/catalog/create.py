"""CreateTopics (19): validates the requested topics and makes their records (``ReplicationControlManager``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import msgspec

from coordinator_server.catalog.alter_configs import ResourceType, config_records
from coordinator_server.catalog.describe_configs import ConfigSource, described, of_new_topic
from coordinator_server.catalog.setting_tables import TOPIC_SETTINGS, check_topic_settings
from coordinator_server.config import Config
from coordinator_server.kinds import KINDS
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.topic_names import name_problem
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import PartitionRecord, TopicRecord
from protocol.messages.create_topics import CreatableTopic, CreatableTopicResult, CreateTopicsRequest

# Kafka's limit for one request, which bounds the size of its record batch.
MAX_PARTITIONS_PER_REQUEST = 10_000
# One server stores everything once, so the default and an explicit 1 are the only valid values.
REPLICATION_FACTOR = 1


class Room(NamedTuple):
    """How many more topics and partitions there may be, and the properties that say so."""

    topics: int
    partitions: int
    topics_property: str = "topics.max"

    def check(self, topics: int, partitions: int) -> None:
        """Raise CoordinatorError if that exceeds the limit."""
        if topics > self.topics:
            raise CoordinatorError(ErrorCode.POLICY_VIOLATION, f"there are as many topics as {self.topics_property} allows")
        if partitions > self.partitions:
            raise CoordinatorError(ErrorCode.POLICY_VIOLATION, "there would be more partitions than topics.max.partitions allows")

    def without(self, topics: int, partitions: int) -> Room:
        """Return what remains of the limit after these creations."""
        return self._replace(topics=self.topics - topics, partitions=self.partitions - partitions)


def plan(
    request: CreateTopicsRequest,
    existing: Collection[str],
    config: Config,
    new_topic_id: Callable[[], bytes],
    room: Room,
    node_id: int,
) -> tuple[list[CreatableTopicResult], list[CoordinatorRecord]]:
    """Return the answer for each topic, and the records of the valid ones, on one node.

    Raises CoordinatorError for the whole request.
    """
    default_partitions, broker = config.live.num_partitions, topic_synonyms(config)
    plain = of_new_topic(described(TOPIC_SETTINGS, {}, ConfigSource.TOPIC, broker))
    asked = Counter(topic.name for topic in request.topics)
    if sum(_partitions(topic, default_partitions) for topic in request.topics) > MAX_PARTITIONS_PER_REQUEST:
        raise CoordinatorError(
            ErrorCode.POLICY_VIOLATION, f"at most {MAX_PARTITIONS_PER_REQUEST} partitions can be made by one request"
        )
    results, records = [], []
    for topic in {topic.name: topic for topic in request.topics}.values():
        partitions = _partitions(topic, default_partitions)
        try:
            _check(topic, asked[topic.name], existing)
            own = _own_settings(topic)
            room.check(1, partitions)
        except CoordinatorError as refused:
            results.append(CreatableTopicResult(topic.name, error_code=refused.error, error_message=refused.message))
            continue
        room = room.without(1, partitions)
        topic_id = new_topic_id()
        configs = of_new_topic(described(TOPIC_SETTINGS, own, ConfigSource.TOPIC, broker)) if own else plain
        results.append(CreatableTopicResult(topic.name, topic_id, 0, None, 0, partitions, REPLICATION_FACTOR, configs))
        records.extend(topic_records(topic.name, topic_id, partitions, node_id))
        records.extend(config_records((ResourceType.TOPIC, topic.name), own))
    return results, records


def topic_synonyms(config: Config) -> dict[str, str]:
    """Return the text of this server's properties that are the defaults of topic settings."""
    properties = msgspec.to_builtins(config)
    return {name: str(properties[name]) for setting in TOPIC_SETTINGS.values() if (name := setting.synonym or "") in properties}


def _own_settings(topic: CreatableTopic) -> dict[str, str]:
    """Return the requested settings of a topic. Raises CoordinatorError."""
    missing = [config.name for config in topic.configs if config.value is None]
    if missing:
        raise CoordinatorError(ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {','.join(missing)}")
    own = {config.name: config.value or "" for config in topic.configs}
    if own:
        check_topic_settings(own)
    return own


def _check(topic: CreatableTopic, times_asked: int, existing: Collection[str]) -> None:
    if times_asked > 1:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, "the topic is in the request more than once")
    problem = name_problem(topic.name)
    if problem is not None:
        raise CoordinatorError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if topic.name in KINDS:
        raise CoordinatorError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic.name} is this server's own log")
    if topic.name in existing:
        raise CoordinatorError(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {topic.name} already exists")
    if topic.assignments:
        _check_assignments(topic)
    elif topic.replication_factor not in (-1, REPLICATION_FACTOR):
        raise CoordinatorError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"replication factor {topic.replication_factor}: this cluster has one node, ask for 1 or -1",
        )
    elif topic.num_partitions != -1 and topic.num_partitions <= 0:
        raise CoordinatorError(
            ErrorCode.INVALID_PARTITIONS, f"{topic.num_partitions} partitions: ask for 1 or more, or -1 for the default"
        )


def _check_assignments(topic: CreatableTopic) -> None:
    if topic.num_partitions != -1 or topic.replication_factor != -1:
        raise CoordinatorError(
            ErrorCode.INVALID_REQUEST, "with an explicit assignment, partitions and replication factor must both be -1"
        )
    if sorted(assignment.partition_index for assignment in topic.assignments) != list(range(len(topic.assignments))):
        raise CoordinatorError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "the assigned partitions are not 0, 1, 2, … each once")
    if any(len(assignment.broker_ids) != REPLICATION_FACTOR for assignment in topic.assignments):
        raise CoordinatorError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "each partition has exactly one replica here")


def _partitions(topic: CreatableTopic, default: int) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return default if topic.num_partitions == -1 else max(0, topic.num_partitions)


def topic_records(name: str, topic_id: bytes, partitions: int, node_id: int) -> list[CoordinatorRecord]:
    """Return the records that create a topic with every partition on this node."""
    return [CoordinatorRecord(TopicRecord(name, topic_id), None), *partition_records(topic_id, range(partitions), node_id)]


def partition_records(topic_id: bytes, partitions: Iterable[int], node_id: int) -> list[CoordinatorRecord]:
    """Return the records that create partitions of a topic."""
    records = []
    replicas = [node_id]
    for partition in partitions:
        record = PartitionRecord(partition, topic_id, replicas, replicas, leader=node_id, leader_epoch=0, partition_epoch=0)
        records.append(CoordinatorRecord(record, None))
    return records
