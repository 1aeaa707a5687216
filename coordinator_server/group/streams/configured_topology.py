"""What a topology is configured to, with the present topics."""

from __future__ import annotations

from typing import NamedTuple


class InternalTopic(NamedTuple):
    """A repartition or changelog topic as the topology is configured to have it (Kafka's ConfiguredInternalTopic)."""

    name: str
    partitions: int
    replication_factor: int
    """0: the default."""
    configs: dict[str, str]


class ConfiguredSubtopology(NamedTuple):
    """A subtopology, with the numbers of partitions of its internal topics. Lists are in the order of the record."""

    tasks: int
    source_topics: list[str]
    repartition_source_topics: list[InternalTopic]
    repartition_sink_topics: list[str]
    state_changelog_topics: list[InternalTopic]


class TopologyProblem(NamedTuple):
    """Why a topology is not ready: a status of the heartbeat's answer."""

    status_code: int
    """MISSING_SOURCE_TOPICS, INCORRECTLY_PARTITIONED_TOPICS or MISSING_INTERNAL_TOPICS of ``group/streams/status.py``."""
    message: str


class ConfiguredTopology(NamedTuple):
    """A topology with the present topics (Kafka's ConfiguredTopology)."""

    epoch: int
    subtopologies: dict[str, ConfiguredSubtopology] | None
    """By id, sorted; None if source topics are missing or topics are incorrectly partitioned."""
    missing_topics: dict[str, InternalTopic]
    """Internal topics to create, by name, in the order in which Kafka lists them."""
    problem: TopologyProblem | None

    @property
    def is_ready(self) -> bool:
        """Whether tasks can be assigned."""
        return self.problem is None
