"""A topology with the present topics: its tasks, and the internal topics that it needs (Kafka's ``InternalTopicManager``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from coordinator_server.group.streams import status
from coordinator_server.group.streams.configured_topology import (
    ConfiguredSubtopology,
    ConfiguredTopology,
    InternalTopic,
    TopologyProblem,
)
from coordinator_server.group.streams.partition_counts import (
    NotConfigurable,
    PartitionCount,
    copartition_groups,
    decide_partition_counts,
    source_names,
)
from coordinator_server.group.streams.topology import required_topics, subtopologies_in_order
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import hash_map_order, text_order
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_records import StreamsGroupTopologyValue, Subtopology, TopicInfo

_MOST_LISTED: Final = 3


def configure_topology(topology: StreamsGroupTopologyValue, partition_count: PartitionCount) -> ConfiguredTopology:
    """Return the configuration of a topology. ``partition_count`` returns None for a topic that does not exist.

    Raises STREAMS_INVALID_TOPOLOGY if repartition topics depend on each other in a loop, are not written, or if a subtopology reads
    nothing, and UNKNOWN_SERVER_ERROR if the topology is malformed.
    """
    subtopologies = subtopologies_in_order(topology)
    groups = copartition_groups(subtopologies)
    try:
        _require_sources(subtopologies, partition_count)
        decided = decide_partition_counts(subtopologies, groups, partition_count)

        def present(topic: str) -> int:
            found = partition_count(topic)
            return decided[topic] if found is None else found

        configured = {}
        for each in sorted(subtopologies, key=lambda subtopology: text_order(subtopology.subtopology_id)):
            tasks = max(map(present, source_names(each)))
            configured[each.subtopology_id] = _configured(each, tasks, decided)
        missing = _missing_topics(topology, configured, partition_count)
    except NotConfigurable as failed:
        return ConfiguredTopology(topology.epoch, None, {}, failed.problem)
    problem = None
    if missing:
        problem = TopologyProblem(status.MISSING_INTERNAL_TOPICS, f"Internal topics are missing: {_listed(missing)}")
    return ConfiguredTopology(topology.epoch, configured, missing, problem)


def _require_sources(subtopologies: Sequence[Subtopology], partition_count: PartitionCount) -> None:
    names = {name for each in subtopologies for name in each.source_topics}
    missing = sorted([name for name in names if partition_count(name) is None], key=text_order)
    if missing:
        raise NotConfigurable(TopologyProblem(status.MISSING_SOURCE_TOPICS, f"Source topics {_listed(missing)} are missing."))


def _configured(subtopology: Subtopology, tasks: int, decided: dict[str, int]) -> ConfiguredSubtopology:
    if tasks < 1:
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return ConfiguredSubtopology(
        tasks,
        list(dict.fromkeys(subtopology.source_topics)),
        _internal_topics(subtopology.repartition_source_topics, decided),
        list(dict.fromkeys(subtopology.repartition_sink_topics)),
        _internal_topics(subtopology.state_changelog_topics, decided),
    )


def _internal_topics(topics: Sequence[TopicInfo], decided: dict[str, int]) -> list[InternalTopic]:
    """Return the topics as they are to be. Raises UNKNOWN_SERVER_ERROR if two have one name, or a setting is given twice."""
    found = [_internal_topic(topic, topic.partitions or decided[topic.name]) for topic in topics]
    if len({topic.name for topic in topics}) < len(topics):
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return found


def _internal_topic(topic: TopicInfo, partitions: int) -> InternalTopic:
    configs = {each.key: each.value for each in topic.topic_configs}
    if partitions < 1 or len(configs) < len(topic.topic_configs):
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    in_order = {key: configs[key] for key in hash_map_order(configs)}
    return InternalTopic(topic.name, partitions, topic.replication_factor, in_order)


def _missing_topics(
    topology: StreamsGroupTopologyValue, configured: dict[str, ConfiguredSubtopology], partition_count: PartitionCount
) -> dict[str, InternalTopic]:
    """Return the internal topics that do not exist, in the order of Kafka's HashMap. Raises NotConfigurable."""
    expected: dict[str, InternalTopic] = {}
    for subtopology in configured.values():
        for topics in (subtopology.repartition_source_topics, subtopology.state_changelog_topics):
            by_name = {topic.name: topic for topic in topics}
            expected.update({name: by_name[name] for name in hash_map_order(by_name)})
    for name in required_topics(topology):
        topic, found = expected.get(name), partition_count(name)
        if topic is not None and found is not None and found != topic.partitions:
            raise NotConfigurable(
                TopologyProblem(
                    status.INCORRECTLY_PARTITIONED_TOPICS,
                    f"Existing topic {name} has different number of partitions: expected {topic.partitions}, found {found}",
                )
            )
    # The table keeps the size that it had with all of them.
    return {name: expected[name] for name in hash_map_order(expected) if partition_count(name) is None}


def _listed(names: Iterable[str]) -> str:
    """Return the first names, and how many more there are."""
    listed = list(names)
    more = len(listed) - _MOST_LISTED
    return ", ".join(listed[:_MOST_LISTED]) + (f" and {more} additional topics" if more > 0 else "")
