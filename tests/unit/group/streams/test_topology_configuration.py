"""What a topology comes to with the topics that exist: tasks, internal topics, and why it is not ready."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from coordinator_server.group.streams import status
from coordinator_server.group.streams.configured_topology import ConfiguredTopology, InternalTopic, TopologyProblem
from coordinator_server.group.streams.topology_configuration import configure_topology
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_records import (
    CopartitionGroup,
    StreamsGroupTopologyValue,
    Subtopology,
    TopicConfig,
    TopicInfo,
)


def reads(subtopology_id: str, *sources: str, **fields: Any) -> Subtopology:
    """A subtopology. ``repartition`` and ``changelogs`` are names, or topics; ``writes`` are names."""
    topics = {
        name: [each if isinstance(each, TopicInfo) else TopicInfo(each) for each in fields.pop(name, ())]
        for name in ("repartition", "changelogs")
    }
    return Subtopology(
        subtopology_id=subtopology_id,
        source_topics=list(sources),
        repartition_sink_topics=list(fields.pop("writes", ())),
        repartition_source_topics=topics["repartition"],
        state_changelog_topics=topics["changelogs"],
        **fields,
    )


def configure(*subtopologies: Subtopology, **topics: int) -> ConfiguredTopology:
    """``topics`` exist, with so many partitions."""
    return configure_topology(StreamsGroupTopologyValue(5, list(subtopologies)), topics.get)


def tasks_of(topology: ConfiguredTopology) -> dict[str, int]:
    assert topology.subtopologies is not None
    return {each: subtopology.tasks for each, subtopology in topology.subtopologies.items()}


def missing_counts(topology: ConfiguredTopology) -> dict[str, int]:
    return {each.name: each.partitions for each in topology.missing_topics.values()}


def test_a_subtopology_has_a_task_for_each_partition_of_its_largest_source() -> None:
    found = configure(reads("b", "orders", "rates"), reads("a", "rates"), orders=3, rates=2)

    assert found.is_ready
    assert found.epoch == 5
    assert list(tasks_of(found).items()) == [("a", 2), ("b", 3)]


def test_missing_source_topics_are_listed() -> None:
    """The first three, sorted, and how many more there are. Internal topics are not looked at then."""
    found = configure(reads("0", "e", "d", "c", "b", "a", changelogs=["log"]), c=1)

    assert found.problem == TopologyProblem(
        status.MISSING_SOURCE_TOPICS, "Source topics a, b, d and 1 additional topics are missing."
    )
    assert found.subtopologies is None
    assert not found.missing_topics


def test_missing_internal_topics_are_to_be_made() -> None:
    """With settings and replication factor as the topology says; the order of topics and settings is that of Java's tables."""
    log = TopicInfo("log", 0, 3, [TopicConfig("b", "1"), TopicConfig("a", "2")])

    found = configure(reads("0", "orders", writes=["sums"]), reads("1", repartition=["sums"], changelogs=[log]), orders=4)

    assert found.missing_topics == {
        "sums": InternalTopic("sums", 4, 0, {}),
        "log": InternalTopic("log", 4, 3, {"a": "2", "b": "1"}),
    }
    assert list(found.missing_topics["log"].configs) == ["a", "b"]
    assert found.problem == TopologyProblem(status.MISSING_INTERNAL_TOPICS, "Internal topics are missing: log, sums")
    assert tasks_of(found) == {"0": 4, "1": 4}


def test_internal_topics_that_exist_are_not_made() -> None:
    found = configure(reads("0", "orders", changelogs=["log"]), orders=2, log=2)

    assert found.is_ready
    assert not found.missing_topics


def test_internal_topics_need_their_number_of_partitions() -> None:
    found = configure(reads("0", "orders", changelogs=["log"]), orders=2, log=3)

    assert found.problem == TopologyProblem(
        status.INCORRECTLY_PARTITIONED_TOPICS, "Existing topic log has different number of partitions: expected 2, found 3"
    )
    assert found.subtopologies is None


def test_a_repartition_topic_has_the_partitions_that_the_topology_says() -> None:
    found = configure(
        reads("0", "orders", writes=["sums"]), reads("1", repartition=[TopicInfo("sums", 7)], changelogs=["log"]), orders=4
    )

    assert missing_counts(found) == {"sums": 7, "log": 7}


def test_counts_follow_a_chain_of_repartition_topics_in_any_order() -> None:
    """The last link comes first in the topology."""
    chain = [reads(str(9 - i), repartition=[f"r{i}"], writes=[f"r{i + 1}"]) for i in range(8)]

    found = configure(*chain, reads("a", "orders", writes=["r0"]), reads("b", repartition=["r8"]), orders=6)

    assert set(missing_counts(found).values()) == {6}


def test_a_long_chain_is_followed_once() -> None:
    """Each link is looked at a few times, in whatever order they are: passes over all of them would be a square."""
    asked: Counter[str] = Counter()
    links = [reads(f"{i:05}", repartition=[f"r{i + 1}"], writes=[f"r{i}"]) for i in range(2000)]
    links += [reads("first", "orders", writes=["r2000"]), reads("last", "rates", repartition=["r0"])]

    def partition_count(name: str) -> int | None:
        asked[name] += 1
        return {"orders": 3, "rates": 2}.get(name)

    found = configure_topology(StreamsGroupTopologyValue(0, links), partition_count)

    assert set(missing_counts(found).values()) == {3}
    assert asked.total() < 10 * len(links)


def test_what_is_not_yet_decided_does_not_count() -> None:
    """As in Kafka: 0 is looked at first, and does not wait for the larger topic that 1 writes."""
    found = configure(
        reads("0", "small", repartition=["large"], writes=["out"]),
        reads("1", "orders", writes=["large"]),
        reads("2", repartition=["out"]),
        small=1,
        orders=9,
    )

    assert missing_counts(found) == {"large": 9, "out": 1}


def test_what_is_decided_in_the_same_pass_counts() -> None:
    """0 is looked at again after 2, which writes the larger one of the topics that 0 reads."""
    found = configure(
        reads("0", repartition=["a", "b"], writes=["out"]),
        reads("1", "small", writes=["a"]),
        reads("2", "orders", writes=["b"]),
        reads("3", repartition=["out"]),
        small=1,
        orders=9,
    )

    assert missing_counts(found) == {"a": 1, "b": 9, "out": 9}


def test_copartitioned_repartition_topics_follow_the_source_topic() -> None:
    found = configure(
        reads("0", "orders", writes=["sums"]),
        reads("1", "rates", repartition=["sums"], copartition_groups=[CopartitionGroup([0], [], [0])]),
        orders=3,
        rates=8,
    )

    assert missing_counts(found) == {"sums": 8}


def test_copartitioned_repartition_topics_get_the_largest_count() -> None:
    found = configure(
        reads("0", "orders", writes=["a"]),
        reads("1", "rates", writes=["b"]),
        reads("2", repartition=["a", "b"], copartition_groups=[CopartitionGroup([], [], [0, 1])]),
        orders=3,
        rates=8,
    )

    assert missing_counts(found) == {"a": 8, "b": 8}


def test_a_fixed_repartition_topic_decides_for_those_copartitioned_with_it() -> None:
    found = configure(
        reads("0", "orders", writes=["a", "b"]),
        reads("2", repartition=[TopicInfo("a", 5), "b"], copartition_groups=[CopartitionGroup([], [], [0, 1])]),
        orders=3,
    )

    assert missing_counts(found) == {"a": 5, "b": 5}


@pytest.mark.parametrize(
    ("subtopology", "message"),
    [
        (
            reads("1", "rates", "orders", copartition_groups=[CopartitionGroup([0, 1], [], [])]),
            "Following topics do not have the same number of partitions: [{orders=3, rates=8}]",
        ),
        (
            reads("1", repartition=[TopicInfo("b", 2), TopicInfo("a", 5)], copartition_groups=[CopartitionGroup([], [], [0, 1])]),
            "Following topics do not have the same number of partitions: [{a=5, b=2}]",
        ),
        (
            reads("1", "rates", repartition=[TopicInfo("a", 5)], copartition_groups=[CopartitionGroup([0], [], [0])]),
            "Number of partitions [5] of repartition topic [a] doesn't match number of partitions [8] of the source topic.",
        ),
    ],
    ids=["sources", "fixed", "fixed and source"],
)
def test_copartitioned_topics_have_equally_many_partitions(subtopology: Subtopology, message: str) -> None:
    found = configure(reads("0", "orders", writes=["a", "b"]), subtopology, orders=3, rates=8)

    assert found.problem == TopologyProblem(status.INCORRECTLY_PARTITIONED_TOPICS, message)


@pytest.mark.parametrize(
    ("subtopologies", "message"),
    [
        (
            [reads("0", repartition=["a"], writes=["b"]), reads("1", repartition=["b"], writes=["a"])],
            (
                "Failed to compute number of partitions for all repartition topics. There may be loops in the topology that cannot "
                "be resolved."
            ),
        ),
        (
            [reads("0", "orders", repartition=["a"])],
            (
                "Failed to compute number of partitions for all repartition topics, because a repartition source topic is never "
                "used as a sink topic."
            ),
        ),
        ([reads("0", "orders"), reads("1", changelogs=["log"])], "No source topics found for subtopology 1"),
    ],
    ids=["loop", "never written", "no source"],
)
def test_an_invalid_topology_is_refused(subtopologies: list[Subtopology], message: str) -> None:
    with pytest.raises(CoordinatorError) as refused:
        configure(*subtopologies, orders=1)

    assert refused.value.error is ErrorCode.STREAMS_INVALID_TOPOLOGY
    assert refused.value.message == message


@pytest.mark.parametrize(
    "subtopology",
    [
        reads("0", "orders", copartition_groups=[CopartitionGroup([1], [], [])]),
        reads("0", "orders", copartition_groups=[CopartitionGroup([-1], [], [])]),
        reads("0", "orders", copartition_groups=[CopartitionGroup([], [], [0])]),
        reads("0", "orders", changelogs=["log", "log"]),
        reads("0", "orders", changelogs=[TopicInfo("log", 0, 0, [TopicConfig("a", "1"), TopicConfig("a", "2")])]),
        reads("0", repartition=[TopicInfo("sums", -1)]),
        reads("0", "orders", repartition=[TopicInfo("sums", -1)]),
    ],
    ids=[
        "no such source",
        "a negative number",
        "no such repartition topic",
        "twice",
        "setting twice",
        "no tasks",
        "no partitions",
    ],
)
def test_a_malformed_topology_is_an_error(subtopology: Subtopology) -> None:
    """As in Kafka, it is one of the server, without a message."""
    with pytest.raises(CoordinatorError) as refused:
        configure(subtopology, orders=1)

    assert refused.value.error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert refused.value.message is None
