"""Random topologies of streams groups, and topics that fit them or do not.

``tests/golden/StreamsTopologies.java`` adds what Kafka's coordinator makes of them; ``compare`` asserts the same here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from coordinator_server.group.streams.configured_topology import ConfiguredTopology, InternalTopic
from coordinator_server.group.streams.topology import required_topics, source_topics, topology_value
from coordinator_server.group.streams.topology_configuration import configure_topology
from coordinator_server.machine.errors import CoordinatorError
from protocol.messages.streams_group_heartbeat import CopartitionGroup, KeyValue, Subtopology, TopicInfo, Topology

TOPOLOGIES: Final = 300
EPOCH: Final = 3
# Some of these are in one bucket of a small hash table.
IDS: Final = ["0", "1", "2", "3", "4", "5", "11", "12", "27", "sums", "é", "𝄞", "\uffee"]
CONFIGS: Final = ["cleanup.policy", "retention.ms", "segment.bytes", "message.timestamp.type", "retention.bytes"]
Drawn = dict[str, Any]


def random_topologies(count: int = TOPOLOGIES, seed: int = 20) -> Iterator[Drawn]:
    """Yield topologies as JSON objects."""
    for i in range(count):
        yield {"seed": f"{seed}/{i}", **_Topology(random.Random(f"{seed}/{i}")).draw()}


class _Topology:
    """Most fit their topics: what may be wrong is seldom, so that the later checks are reached as well."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._most = rng.choice([1, 2, 4, 8])
        self._has_one_count = rng.random() < 0.6
        self._fixed_share = rng.choice([0.0, 0.0, 0.1, 0.5])
        self._is_careful = rng.random() < 0.75
        self._external = [f"in-{rng.getrandbits(12):x}" for _ in range(rng.choice([1, 2, 3, 6]))]
        self._repartition = [f"app-{rng.getrandbits(12):x}-repartition" for _ in range(rng.choice([0, 1, 2, 5, 14]))]

    def draw(self) -> Drawn:
        rng = self._rng
        ids = rng.sample(IDS, rng.choice([1, 1, 2, 3, 5, len(IDS)]))
        if self._seldom(0.02):
            ids.append(ids[0])
        subtopologies = [self._subtopology(each) for each in ids]
        if self._is_careful:
            # Somebody writes each repartition topic.
            for name in self._repartition:
                rng.choice(subtopologies)["sinks"].append(name)
        topics = {name: self._count() for name in self._external if not self._seldom(0.05)}
        share = rng.choice([0.0, 0.1, 1.0, 1.0])
        for each in subtopologies:
            for name, *_ in [*each["repartition"], *each["changelogs"]]:
                if rng.random() < share:
                    topics[name] = self._count()
        return {"topics": topics, "subtopologies": subtopologies}

    def _subtopology(self, subtopology_id: str) -> Drawn:
        rng = self._rng
        sources = self._some(self._external, 2)
        repartition = [self._topic(name, rng.random() < self._fixed_share) for name in self._some(self._repartition, 3)]
        if not sources and not repartition and not self._seldom(0.1):
            sources = [rng.choice(self._external)]
        changelogs = [f"app-{rng.getrandbits(12):x}-changelog" for _ in range(rng.choice([0, 0, 1, 3, 9]))]
        if changelogs and self._seldom(0.02):
            changelogs.append(rng.choice([changelogs[0], *self._repartition]))
        return {
            "id": subtopology_id,
            "sources": sources,
            "sinks": [] if self._is_careful else self._some(self._repartition, 2),
            "repartition": repartition,
            "changelogs": [self._topic(name, is_fixed=False) for name in changelogs],
            "copartitioned": [self._group(len(sources), len(repartition)) for _ in range(rng.choice([0, 0, 1, 2]))],
        }

    def _group(self, sources: int, repartition: int) -> list[list[int]]:
        rng, beyond = self._rng, self._seldom(0.02)
        return [
            rng.sample(range(count), rng.randint(0, count)) + ([rng.choice([-1, count])] if beyond else [])
            for count in (sources, repartition)
        ]

    def _topic(self, name: str, is_fixed: bool) -> list[Any]:
        rng = self._rng
        configs = [[key, str(rng.randint(0, 9))] for key in rng.sample(CONFIGS, rng.choice([0, 0, 1, 3, 5]))]
        if configs and self._seldom(0.01):
            configs.append(configs[0])
        partitions = (-1 if self._seldom(0.02) else self._count()) if is_fixed else 0
        return [name, partitions, rng.choice([0, 0, -1, 1, 3]), configs]

    def _count(self) -> int:
        return self._most if self._has_one_count and self._rng.random() < 0.95 else self._rng.randint(1, self._most)

    def _some(self, names: list[str], most: int) -> list[str]:
        return self._rng.sample(names, self._rng.randint(0, min(most, len(names))))

    def _seldom(self, share: float) -> bool:
        return not self._is_careful and self._rng.random() < share


def compare(drawn: Drawn) -> str:
    """Assert that a topology comes out as with Kafka's classes; return which kind of outcome it is."""
    found = configured(drawn)
    assert found == {key: each for key, each in drawn.items() if key not in ("seed", "topics", "subtopologies")}, drawn
    if "error" in found:
        return f"error {found['error'][0]}"
    return f"status {found['problem'][0]}" if "problem" in found else "ready"


def configured(drawn: Drawn) -> Drawn:
    """Return what Kafka's classes add to a topology."""
    found: Drawn = {}
    try:
        record = topology_value(sent_topology(drawn))
        found["required"] = required_topics(record)
        found["sources"] = source_topics(record)
        topology = configure_topology(record, drawn["topics"].get)
    except CoordinatorError as error:
        return {**found, "error": [error.error, error.message]}
    return {**found, **_described(topology)}


def sent_topology(drawn: Drawn) -> Topology:
    """Return a topology as a heartbeat has it."""
    return Topology(EPOCH, [_sent(each) for each in drawn["subtopologies"]])


def _sent(each: Mapping[str, Any]) -> Subtopology:
    return Subtopology(
        subtopology_id=each["id"],
        source_topics=each["sources"],
        repartition_sink_topics=each["sinks"],
        repartition_source_topics=[_sent_topic(*topic) for topic in each["repartition"]],
        state_changelog_topics=[_sent_topic(*topic) for topic in each["changelogs"]],
        copartition_groups=[CopartitionGroup(sources, [], repartition) for sources, repartition in each["copartitioned"]],
    )


def _sent_topic(name: str, partitions: int, replication_factor: int, configs: list[list[str]]) -> TopicInfo:
    return TopicInfo(name, partitions, replication_factor, [KeyValue(*pair) for pair in configs])


def _described(topology: ConfiguredTopology) -> Drawn:
    described: Drawn = {"missing": [_created(each) for each in topology.missing_topics.values()]}
    if topology.subtopologies is not None:
        described["configured"] = {
            subtopology_id: {
                "tasks": each.tasks,
                "repartition": {topic.name: topic.partitions for topic in each.repartition_source_topics},
                "changelogs": {topic.name: topic.partitions for topic in each.state_changelog_topics},
            }
            for subtopology_id, each in topology.subtopologies.items()
        }
    if topology.problem is not None:
        described["problem"] = list(topology.problem)
    return described


def _created(topic: InternalTopic) -> list[Any]:
    configs = [list(pair) for pair in topic.configs.items()]
    return [topic.name, topic.partitions, topic.replication_factor or -1, configs]
