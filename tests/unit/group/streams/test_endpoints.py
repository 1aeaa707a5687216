"""The partitions that the tasks of a member read."""

from __future__ import annotations

import pytest

from coordinator_server.group.streams import status
from coordinator_server.group.streams.configured_topology import (
    ConfiguredSubtopology,
    ConfiguredTopology,
    InternalTopic,
    TopologyProblem,
)
from coordinator_server.group.streams.endpoints import partitions_of_tasks
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_heartbeat import TopicPartition

COUNTS = {"orders": 4, "rates": 2, "app-sums-repartition": 3}
TOPOLOGY = ConfiguredTopology(
    1,
    {
        "0": ConfiguredSubtopology(4, ["rates", "orders"], [], ["app-sums-repartition"], []),
        "1": ConfiguredSubtopology(3, [], [InternalTopic("app-sums-repartition", 3, 0, {})], [], []),
    },
    {},
    None,
)


def test_each_source_topic_has_the_partitions_of_the_tasks() -> None:
    found = partitions_of_tasks({"1": [0, 2], "0": {3: 7, 1: 5}}, TOPOLOGY, COUNTS.get)

    assert found == [
        TopicPartition("orders", [1, 3]),
        TopicPartition("rates", [1, 3]),
        TopicPartition("app-sums-repartition", [0, 2]),
    ]


def test_a_smaller_topic_has_as_many_as_it_has_partitions() -> None:
    """The first of the tasks, as in Kafka, even if the topic has no partition of that number."""
    found = partitions_of_tasks({"0": [1, 2, 3]}, TOPOLOGY, COUNTS.get)

    assert found == [TopicPartition("orders", [1, 2, 3]), TopicPartition("rates", [1, 2])]


@pytest.mark.parametrize(
    ("tasks", "topology", "counts"),
    [
        ({}, TOPOLOGY._replace(subtopologies=None, problem=TopologyProblem(status.MISSING_SOURCE_TOPICS, "")), COUNTS),
        ({"9": [0]}, TOPOLOGY, COUNTS),
        ({"1": [0]}, TOPOLOGY, {}),
    ],
    ids=["not configured", "no such subtopology", "no such topic"],
)
def test_a_topology_that_is_not_ready_has_none(
    tasks: dict[str, list[int]], topology: ConfiguredTopology, counts: dict[str, int]
) -> None:
    with pytest.raises(CoordinatorError) as refused:
        partitions_of_tasks(tasks, topology, counts.get)

    assert refused.value.error is ErrorCode.UNKNOWN_SERVER_ERROR
