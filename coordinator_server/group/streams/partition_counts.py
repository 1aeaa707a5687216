"""How many partitions internal topics have (Kafka's RepartitionTopics, CopartitionedTopicsEnforcer and ChangelogTopics).

A repartition topic has the partitions that the topology says, or as many as the largest source topic of the subtopology that writes
it. Copartitioned topics have equally many. A changelog topic has as many as the largest source topic of its subtopology.
Kafka decides in passes over the subtopologies, in the order of a hash table; what is not yet decided does not count as a source.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping, Sequence

from coordinator_server.group.streams import status
from coordinator_server.group.streams.configured_topology import TopologyProblem
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import hash_map_order, text_order
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_records import CopartitionGroup, Subtopology

PartitionCount = Callable[[str], int | None]
"""Returns the number of partitions of a topic; None if it does not exist."""


class NotConfigurable(Exception):
    """The present topics do not fit the topology: ``problem`` says why."""

    def __init__(self, problem: TopologyProblem) -> None:
        self.problem = problem


def copartition_groups(subtopologies: Sequence[Subtopology]) -> list[list[str]]:
    """Return the topics of each copartition group. Raises UNKNOWN_SERVER_ERROR if one names a topic by a wrong number."""
    return [_copartitioned(subtopology, group) for subtopology in subtopologies for group in subtopology.copartition_groups]


def decide_partition_counts(
    subtopologies: Sequence[Subtopology], groups: Sequence[Sequence[str]], partition_count: PartitionCount
) -> dict[str, int]:
    """Return the number of partitions of each internal topic. ``subtopologies`` are in Kafka's order; their source topics exist.

    Raises NotConfigurable, and STREAMS_INVALID_TOPOLOGY.
    """
    counts = _repartition_counts(subtopologies, partition_count)

    def present(topic: str) -> int:
        # What exists is as it is, whatever was decided.
        found = partition_count(topic)
        return counts[topic] if found is None else found

    repartition = [topic for each in subtopologies for topic in each.repartition_source_topics]
    repartition_names = {topic.name for topic in repartition}
    # Of all subtopologies, even for a group that has none of them, as in Kafka.
    fixed = {topic.name: present(topic.name) for topic in repartition if topic.partitions != 0}
    for group in groups:
        counts.update(_copartition({name: present(name) for name in group}, repartition_names, fixed))
    counts.update(_changelog_counts(subtopologies, present))
    return counts


def source_names(subtopology: Subtopology) -> list[str]:
    """Return the topics that a subtopology reads."""
    return [*subtopology.source_topics, *(topic.name for topic in subtopology.repartition_source_topics)]


def _copartitioned(subtopology: Subtopology, group: CopartitionGroup) -> list[str]:
    """Return the topics in the order of Kafka's HashSet."""
    repartition = [topic.name for topic in subtopology.repartition_source_topics]
    names = []
    for numbers, topics in (
        (group.source_topics, subtopology.source_topics),
        (group.repartition_source_topics, repartition),
    ):
        if any(not 0 <= number < len(topics) for number in numbers):
            raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
        names += [topics[number] for number in numbers]
    return hash_map_order(names)


def _repartition_counts(subtopologies: Sequence[Subtopology], partition_count: PartitionCount) -> dict[str, int]:
    """Return the counts of repartition topics before copartitioning.

    Kafka visits all subtopologies in passes, until a pass finds nothing. Here the queue has those that have a source with a count,
    with the pass and the place at which Kafka visits them.
    """
    counts = {
        topic.name: topic.partitions
        for each in subtopologies
        for topic in each.repartition_source_topics
        if topic.partitions != 0
    }
    readers: dict[str, list[int]] = {}
    queue: list[tuple[int, int]] = []
    for place, each in enumerate(subtopologies):
        for topic in each.repartition_source_topics:
            readers.setdefault(topic.name, []).append(place)
        if each.source_topics or any(topic.name in counts for topic in each.repartition_source_topics):
            queue.append((0, place))
    found = {place for _, place in queue}
    while queue:
        number, place = heapq.heappop(queue)
        each = subtopologies[place]
        sinks = [name for name in each.repartition_sink_topics if name not in counts]
        if not sinks:
            continue
        counts.update(dict.fromkeys(sinks, _largest_source(each, counts, partition_count)))
        for reader in [reader for name in sinks for reader in readers.get(name, ())]:
            if reader not in found:
                found.add(reader)
                heapq.heappush(queue, (number if reader > place else number + 1, reader))
    if any(name not in counts for each in subtopologies for name in each.repartition_sink_topics):
        raise CoordinatorError(
            ErrorCode.STREAMS_INVALID_TOPOLOGY,
            "Failed to compute number of partitions for all repartition topics. "
            "There may be loops in the topology that cannot be resolved.",
        )
    if any(topic.name not in counts for each in subtopologies for topic in each.repartition_source_topics):
        raise CoordinatorError(
            ErrorCode.STREAMS_INVALID_TOPOLOGY,
            "Failed to compute number of partitions for all repartition topics, because a repartition source topic is never used "
            "as a sink topic.",
        )
    return counts


def _largest_source(subtopology: Subtopology, counts: Mapping[str, int], partition_count: PartitionCount) -> int:
    """Return the largest count of its sources that have one: at least one has."""
    decided = [counts.get(topic.name) for topic in subtopology.repartition_source_topics]
    return max(count for count in [*decided, *map(partition_count, subtopology.source_topics)] if count is not None)


def _copartition(group: Mapping[str, int], repartition: Collection[str], fixed: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of a group's repartition topics. ``group`` has the present count of each of its topics."""
    internal = {name: count for name, count in group.items() if name in repartition}
    external = {name: count for name, count in group.items() if name not in repartition}
    if not group:
        return {}
    if external:
        decided = _same(external.values(), external)
    elif fixed:
        decided = _same(fixed.values(), internal)
    else:
        decided = max(internal.values())
    for name in hash_map_order(internal):
        if name in fixed and internal[name] != decided:
            raise _incorrect(
                f"Number of partitions [{internal[name]}] of repartition topic [{name}] doesn't match number of partitions "
                f"[{decided}] of the source topic."
            )
    return dict.fromkeys(internal, decided)


def _same(counts: Collection[int], topics: Mapping[str, int]) -> int:
    """Return the count that all have. ``topics`` are those that the message names."""
    first = next(iter(counts))
    if any(count != first for count in counts):
        listed = ", ".join(f"{name}={topics[name]}" for name in sorted(topics, key=text_order))
        raise _incorrect(f"Following topics do not have the same number of partitions: [{{{listed}}}]")
    return first


def _changelog_counts(subtopologies: Sequence[Subtopology], present: Callable[[str], int]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in subtopologies:
        sources = source_names(each)
        if not sources:
            raise CoordinatorError(
                ErrorCode.STREAMS_INVALID_TOPOLOGY, f"No source topics found for subtopology {each.subtopology_id}"
            )
        largest = max(map(present, sources))
        counts.update((topic.name, largest) for topic in each.state_changelog_topics)
    return counts


def _incorrect(message: str) -> NotConfigurable:
    return NotConfigurable(TopologyProblem(status.INCORRECTLY_PARTITIONED_TOPICS, message))
