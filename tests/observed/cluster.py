"""Three brokers, each a controller too, whose cleaner is eager; and what can be done to them."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

from coordinator_server.client.admin.cluster import Cluster as Asked
from coordinator_server.client.admin.offsets import LATEST, topic_offsets
from coordinator_server.client.errors import ClientError
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.client.settings import ConnectionSettings
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponsePartition
from tests.interop.crew import ClientProcess, Refused
from tests.interop.programs import java_command
from tests.support.kafka_broker import KafkaBroker
from tests.support.ports import free_port

TOPICS: Final = ("__consumer_offsets", "__transaction_state", "__share_group_state")
YOUNG_MS: Final = 6_000
"""The cleaner takes no record that is younger than this."""
COUNTS: Final = dict(zip(TOPICS, (6, 3, 3), strict=True))
"""The numbers of partitions."""
TOOL_S: Final = 180
BROKER_S: Final = 300
"""How long a broker may take to start, or to stop in order: others may be gone, and the machine busy."""
CONFIGS: Final = "kafka.admin.ConfigCommand"
BROKER: Final[Mapping[str, object]] = {
    "offsets.topic.num.partitions": COUNTS[TOPICS[0]],
    "offsets.topic.replication.factor": 2,
    "transaction.state.log.num.partitions": COUNTS[TOPICS[1]],
    "transaction.state.log.replication.factor": 3,
    "share.coordinator.state.topic.num.partitions": COUNTS[TOPICS[2]],
    "share.coordinator.state.topic.replication.factor": 3,
    "log.cleaner.backoff.ms": 200,
    "log.cleaner.dedupe.buffer.size": 4 << 20,
    "log.initial.task.delay.ms": 100,
    # A broker that is gone is noticed within seconds.
    "broker.session.timeout.ms": 6000,
    "broker.heartbeat.interval.ms": 1000,
    "replica.lag.time.max.ms": 6000,
    "controlled.shutdown.max.retries": 1,
    "leader.imbalance.check.interval.seconds": 10,
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.session.timeout.ms": 10_000,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 500,
    "group.share.min.session.timeout.ms": 1000,
    "group.share.session.timeout.ms": 10_000,
    "group.share.min.heartbeat.interval.ms": 100,
    "group.share.heartbeat.interval.ms": 500,
}
_EAGER: Final[Mapping[str, str]] = {
    "segment.ms": "2000",
    "segment.jitter.ms": "0",
    "min.cleanable.dirty.ratio": "0.0001",
    "max.compaction.lag.ms": str(YOUNG_MS + 1),
    "min.compaction.lag.ms": str(YOUNG_MS),
    # Longer than `observe` is ever gone: later a deletion leaves no trace, for a replica neither.
    "delete.retention.ms": "60000",
}


class Cluster:
    """The brokers, by number. ``up`` are those that run and answer."""

    def __init__(self, directory: Path) -> None:
        ports = [(free_port(), free_port()) for _ in range(3)]
        voters = ",".join(f"{number}@127.0.0.1:{controller}" for number, (_, controller) in enumerate(ports, 1))
        self.brokers: dict[int, KafkaBroker] = {}
        for number, chosen in enumerate(ports, 1):
            broker = self.brokers[number] = KafkaBroker(directory / f"broker-{number}")
            broker.node_id, broker.ports, broker.voters = number, chosen, voters
        self.bootstrap = ",".join(f"127.0.0.1:{port}" for port, _ in ports)
        self.up: set[int] = set()

    def start(self) -> None:
        """Start all."""
        self.start_brokers(self.brokers)

    def start_brokers(self, numbers: Iterable[int]) -> None:
        """Start brokers that do not run, at once: one alone does not answer before most controllers run."""
        chosen = [*numbers]
        with ThreadPoolExecutor(len(chosen)) as pool:
            for _ in pool.map(lambda number: self.brokers[number].start(BROKER, within_s=BROKER_S), chosen):
                pass
        self.up.update(chosen)

    def stop_broker(self, number: int, *, is_killed: bool) -> None:
        """End a broker: by SIGKILL, or in order. One that does not end in order within BROKER_S is an error."""
        self.up.discard(number)
        if is_killed:
            self.brokers[number].kill()
        else:
            self.brokers[number].stop(within_s=BROKER_S)

    def freeze(self, number: int, seconds: float) -> None:
        """Let a broker do nothing for a while: its connections stay, and nobody answers."""
        self.brokers[number].send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.brokers[number].send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Kill all."""
        for number in sorted(self.up):
            self.stop_broker(number, is_killed=True)

    def tool(self) -> Tool:
        """A new process with Kafka's tools."""
        return Tool(self.bootstrap)

    def be_eager(self, tool: Tool) -> None:
        """Make the cleaner eager for the topics that are followed, which are there by now."""
        settings = ",".join(f"{name}={value}" for name, value in _EAGER.items())
        for topic in TOPICS:
            tool.must(CONFIGS, "--alter", "--entity-type", "topics", "--entity-name", topic, "--add-config", settings)

    def partitions(self) -> list[MetadataResponsePartition]:
        """Return what the cluster says of each partition of the topics that are followed. Raises ClientError."""
        request = MetadataRequest([MetadataRequestTopic(name=name) for name in TOPICS], allow_auto_topic_creation=False)

        async def ask() -> MetadataResponse:
            async with Asked(self._settings()) as asked:
                return await asked.ask(request, MetadataResponse)

        return [each for topic in asyncio.run(ask()).topics for each in topic.partitions]

    def high_watermarks(self) -> dict[str, int]:
        """Return how far the logs that are followed can be read now. Raises ClientError."""
        wanted = [TopicPartition(topic, number) for topic, count in COUNTS.items() for number in range(count)]

        async def ask() -> dict[TopicPartition, int]:
            async with Asked(self._settings()) as asked:
                return dict(await topic_offsets(asked, wanted, LATEST))

        return {f"{each.topic}-{each.partition}": end for each, end in asyncio.run(ask()).items()}

    def _settings(self) -> ConnectionSettings:
        return ConnectionSettings(self.bootstrap, request_timeout_s=15, api_timeout_s=30)

    def has_topics(self) -> bool:
        """Return whether all topics that are followed are there, and each partition has a leader."""
        with suppress(ClientError):
            found = self.partitions()
            return len(found) == sum(COUNTS.values()) and all(each.leader_id > 0 for each in found)
        return False

    def has_all_replicas(self) -> bool:
        """Return whether all brokers run, and each replica of the topics that are followed is in sync."""
        if len(self.up) < len(self.brokers):
            return False
        with suppress(ClientError):
            return all(len(each.isr_nodes) == len(each.replica_nodes) and each.leader_id > 0 for each in self.partitions())
        return False


class Tool:
    """Kafka's tools, in a process of their own; one call at a time."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._process = ClientProcess(java_command("Tools"))
        self._lock = threading.Lock()

    def run(self, name: str, *words: str) -> tuple[int, str]:
        """Run one. Return its exit code and what it printed."""
        with self._lock:
            try:
                code, said = self._process.call(name, ["--bootstrap-server", self._bootstrap, *words], within_s=TOOL_S)
            except Refused as why:
                raise AssertionError(f"{name} has ended the process: {self._process.errors()}") from why
        return code, said

    def must(self, name: str, *words: str) -> str:
        """Run one that has to end well. Return what it printed."""
        code, said = self.run(name, *words)
        assert code == 0, f"{name} {' '.join(words)}: {said}"
        return said

    def close(self) -> None:
        """End the process."""
        self._process.clean_up()


def reassignment(random: Random) -> dict[str, object]:
    """What kafka-reassign-partitions takes: other replicas, in another order, for some partitions."""
    chosen = []
    for topic, count in COUNTS.items():
        for partition in random.sample(range(count), max(1, count // 2)):
            size = 2 if topic == TOPICS[0] else 3
            chosen.append({"topic": topic, "partition": partition, "replicas": random.sample([1, 2, 3], size)})
    return {"version": 1, "partitions": chosen}
