"""The topic partitions that tasks read: a member's end point answers for them (Kafka's ``EndpointToPartitionsManager``)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from coordinator_server.group.streams.configured_topology import ConfiguredTopology
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import text_order
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_heartbeat import TopicPartition


def partitions_of_tasks(
    tasks: Mapping[str, Collection[int]], topology: ConfiguredTopology, partition_count: Callable[[str], int | None]
) -> list[TopicPartition]:
    """Return the partitions of the source topics of some tasks, by subtopology and topic, all sorted.

    Kafka's order is random. As in Kafka, a topic that has fewer partitions than there are tasks gets the first ones of these many
    tasks, even if it has no such partitions. ``partition_count`` returns None for a topic that does not exist. Raises
    UNKNOWN_SERVER_ERROR if the topology is not configured, even without tasks, and if a topic does not exist.
    """
    if topology.subtopologies is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    found: list[TopicPartition] = []
    for subtopology_id in sorted(tasks, key=text_order):
        subtopology = topology.subtopologies.get(subtopology_id)
        if subtopology is None:
            raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
        partitions = sorted(tasks[subtopology_id])
        names = {*subtopology.source_topics, *(topic.name for topic in subtopology.repartition_source_topics)}
        for name in sorted(names, key=text_order):
            count = partition_count(name)
            if count is None:
                raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
            found.append(TopicPartition(name, partitions[:count]))
    return found
