"""The program of a streams group: what its versions read, and what becomes of them with the topics that exist.

What ``outcome`` says is known from KIP-1071, not from the server: a task for each partition of the largest source topic of a
subtopology, an internal topic with as many partitions as its subtopology has tasks, and nothing at all while a topic is missing or
has another number of partitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from coordinator_server.group.streams import status
from protocol.messages.streams_group_heartbeat import Subtopology, TopicInfo, Topology
from tests.simulation.ownership import Position
from tests.support.streams_views import Task

READER: Final = "0"
STATEFUL: Final = "1"
DOWNSTREAM: Final = "2"
SECOND_READER: Final = "3"

Counts = Mapping[str, int]
"""The number of partitions of each topic that exists."""


class Outcome(NamedTuple):
    """What becomes of a topology: the number of tasks of each subtopology, or a status of the heartbeat's answer."""

    tasks: dict[str, int]
    problem: int | None = None
    wrong_topics: tuple[str, ...] = ()
    """Internal topics that have another number of partitions than they should."""


class Program:
    """The versions of one program, oldest first: each is a topology with its number as the epoch."""

    def __init__(self, group_id: str, *versions: list[Subtopology]) -> None:
        self.group_id = group_id
        self.versions = [Topology(epoch, subtopologies) for epoch, subtopologies in enumerate(versions)]
        # Somebody has had all members shut down.
        self.is_shut_down = False

    def outcome(self, epoch: int, counts: Counts) -> Outcome:
        """Return what becomes of a version with these topics. Subtopologies that write a topic are before those that read it."""
        subtopologies = self.versions[epoch].subtopologies
        if any(name not in counts for each in subtopologies for name in each.source_topics):
            return Outcome({}, status.MISSING_SOURCE_TOPICS)
        tasks: dict[str, int] = {}
        internal: dict[str, int] = {}
        for each in subtopologies:
            sources = [counts[name] for name in each.source_topics]
            tasks[each.subtopology_id] = most = max(
                [*sources, *(internal[topic.name] for topic in each.repartition_source_topics)]
            )
            internal.update(dict.fromkeys([*each.repartition_sink_topics, *(t.name for t in each.state_changelog_topics)], most))
        wrong = tuple(name for name, count in internal.items() if counts.get(name, count) != count)
        if wrong:
            return Outcome({}, status.INCORRECTLY_PARTITIONED_TOPICS, wrong)
        if any(name not in counts for name in internal):
            return Outcome({}, status.MISSING_INTERNAL_TOPICS)
        return Outcome(tasks)

    def internal_topics(self, epoch: int) -> list[str]:
        """Return the topics that the server makes for a version."""
        subtopologies = self.versions[epoch].subtopologies
        return [topic.name for each in subtopologies for topic in (*each.repartition_source_topics, *each.state_changelog_topics)]

    def stateful(self, epoch: int, replicas: int) -> dict[str, int]:
        """Return the number of standby replicas of the subtopologies that have state."""
        return {each.subtopology_id: replicas for each in self.versions[epoch].subtopologies if each.state_changelog_topics}

    def positions(self, epoch: int, task: Task, lasting: Mapping[str, bytes], counts: Counts) -> list[Position]:
        """Return what only one member may have with an active task: it, and the partitions of lasting topics that it reads."""
        name, partition = task
        found = [each for each in self.versions[epoch].subtopologies if each.subtopology_id == name]
        topics = [topic for each in found for topic in each.source_topics if topic in lasting]
        return [
            (name.encode(), partition),
            *((lasting[topic], partition) for topic in topics if partition < counts.get(topic, 0)),
        ]


def reading(topic: str, name: str = READER) -> Subtopology:
    """Return a subtopology without state that reads a topic."""
    return Subtopology(name, [topic])


def with_store(topic: str, *more: str, log: str) -> Subtopology:
    """Return a subtopology that reads topics, and has state with this changelog topic."""
    return Subtopology(STATEFUL, [topic, *more], state_changelog_topics=[TopicInfo(log)])


def repartitioned(topic: str, through: str, log: str) -> list[Subtopology]:
    """Return a topology that reads a topic, and counts what it writes ``through`` a repartition topic."""
    downstream = Subtopology(DOWNSTREAM, state_changelog_topics=[TopicInfo(log)], repartition_source_topics=[TopicInfo(through)])
    return [replace(reading(topic), repartition_sink_topics=[through]), downstream]
