"""The topology of a streams group, as its members send it and as its record has it: what is known without the topics.

In Kafka it is a ``StreamsTopology``, which maps ids to subtopologies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import hash_map_order
from protocol.error_codes import ErrorCode
from protocol.messages import streams_group_heartbeat as heartbeat
from protocol.messages.streams_group_records import (
    CopartitionGroup,
    StreamsGroupTopologyValue,
    Subtopology,
    TopicConfig,
    TopicInfo,
)


def topology_value(topology: heartbeat.Topology) -> StreamsGroupTopologyValue:
    """Return the value of the record. Raises UNKNOWN_SERVER_ERROR if two subtopologies have one id, as Kafka's answer does."""
    ids = [each.subtopology_id for each in topology.subtopologies]
    if len(set(ids)) < len(ids):
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return StreamsGroupTopologyValue(topology.epoch, [_subtopology(each) for each in topology.subtopologies])


def subtopologies_in_order(topology: StreamsGroupTopologyValue) -> list[Subtopology]:
    """Return the subtopologies in the order of Kafka's HashMap by id."""
    by_id = {each.subtopology_id: each for each in topology.subtopologies}
    return [by_id[each] for each in hash_map_order(by_id)]


def required_topics(topology: StreamsGroupTopologyValue) -> list[str]:
    """Return the topics that must exist, in the order of Kafka's HashSet. Their hash is the group's metadata hash."""
    return hash_map_order(chain.from_iterable(map(_required_topics, subtopologies_in_order(topology))))


def source_topics(topology: StreamsGroupTopologyValue) -> dict[str, str]:
    """Return the ids of the subtopologies that read topics, by the topic. Of two that read one topic, Kafka keeps the last."""
    return {
        name: each.subtopology_id
        for each in subtopologies_in_order(topology)
        for name in (*each.source_topics, *_names(each.repartition_source_topics))
    }


def are_equal(one: StreamsGroupTopologyValue, other: StreamsGroupTopologyValue) -> bool:
    """Return whether two topologies are the same: the order of subtopologies does not count, every other order does."""
    if one.epoch != other.epoch:
        return False
    by_id, others = ({each.subtopology_id: each for each in topology.subtopologies} for topology in (one, other))
    return by_id == others


def _required_topics(subtopology: Subtopology) -> Iterable[str]:
    return (
        *subtopology.source_topics,
        *_names(subtopology.repartition_source_topics),
        *_names(subtopology.state_changelog_topics),
    )


def _names(topics: Sequence[TopicInfo]) -> list[str]:
    return [topic.name for topic in topics]


def _subtopology(sent: heartbeat.Subtopology) -> Subtopology:
    return Subtopology(
        subtopology_id=sent.subtopology_id,
        source_topics=sent.source_topics,
        source_topic_regex=sent.source_topic_regex,
        state_changelog_topics=[_topic(each) for each in sent.state_changelog_topics],
        repartition_sink_topics=sent.repartition_sink_topics,
        repartition_source_topics=[_topic(each) for each in sent.repartition_source_topics],
        copartition_groups=[
            CopartitionGroup(each.source_topics, each.source_topic_regex, each.repartition_source_topics)
            for each in sent.copartition_groups
        ],
    )


def _topic(sent: heartbeat.TopicInfo) -> TopicInfo:
    configs = [TopicConfig(each.key, each.value) for each in sent.topic_configs]
    return TopicInfo(sent.name, sent.partitions, sent.replication_factor, configs)
