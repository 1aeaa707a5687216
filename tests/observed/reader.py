"""A second reader of the same topics: librdkafka, which knows nothing of ours."""

from __future__ import annotations

import threading
from typing import Final, NamedTuple

from confluent_kafka import Consumer, KafkaException, TopicPartition

from tests.observed.cluster import TOPICS


class Seen(NamedTuple):
    """A record that the cluster has given to a client: its key and its value."""

    key: bytes | None
    value: bytes | None


class Reader(threading.Thread):
    """Reads everything until ``stop``. ``seen`` has each record by its partition (``TOPIC-N``) and offset."""

    _POLL_S: Final = 0.5

    def __init__(self, bootstrap: str) -> None:
        super().__init__(name="reader", daemon=True)
        self.seen: dict[str, dict[int, Seen]] = {}
        self.differences: list[str] = []
        self._stopped = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "reader",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_uncommitted",
                "fetch.wait.max.ms": 200,
                "log_level": 0,
            }
        )

    def run(self) -> None:
        """Read until it is stopped."""
        assigned: set[tuple[str, int]] = set()
        while not self._stopped.is_set():
            if len({topic for topic, _ in assigned}) < len(TOPICS):
                assigned = self._assign(assigned)
            for message in self._consumer.consume(500, self._POLL_S):
                if message.error() is None:
                    partition, offset = f"{message.topic()}-{message.partition()}", message.offset()
                    seen, of = Seen(message.key(), message.value()), self.seen.setdefault(partition, {})
                    if of.setdefault(offset or 0, seen) != seen:
                        self.differences.append(f"{partition} had two records at offset {offset}")
        self._consumer.close()

    def stop(self) -> None:
        """End it, and wait for the end."""
        self._stopped.set()
        self.join()

    def _assign(self, assigned: set[tuple[str, int]]) -> set[tuple[str, int]]:
        """Read the partitions that there are, from the beginning of those that are new."""
        try:
            there = set(self._partitions())
        except KafkaException:
            return assigned
        if there > assigned:
            self._consumer.incremental_assign([TopicPartition(topic, number, 0) for topic, number in there - assigned])
        return there | assigned

    def _partitions(self) -> list[tuple[str, int]]:
        topics = self._consumer.list_topics(timeout=10).topics
        return [(topic, number) for topic in TOPICS if topic in topics for number in topics[topic].partitions]
