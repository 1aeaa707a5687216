"""A stock client meets the faults of the server for tests, and gets over each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from coordinator_server.testing import Coordinator
from tests.support.eventually import eventually

PARTITIONS = 6


@pytest.fixture
def coordinator() -> Iterator[Coordinator]:
    with Coordinator(topics={"orders": PARTITIONS}, durable=True) as started:
        yield started


class Reader:
    """A consumer of librdkafka, and what it was told of its partitions."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.told: list[str] = []
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": "readers",
                "client.id": "reader",
                "enable.auto.commit": False,
                "heartbeat.interval.ms": 200,
                "session.timeout.ms": 30_000,
                "reconnect.backoff.max.ms": 200,
                "log_level": 0,
            }
        )
        self._consumer.subscribe(
            ["orders"],
            on_assign=lambda _, partitions: self.told.append(f"assigned {len(partitions)}"),
            on_revoke=lambda _, partitions: self.told.append(f"revoked {len(partitions)}"),
            on_lost=lambda _, partitions: self.told.append(f"lost {len(partitions)}"),
        )

    def hears(self, *told: str) -> None:
        """Poll until it was told all of this, and forget that."""

        def is_told() -> bool:
            self._consumer.poll(0.02)
            return self.told == list(told)

        eventually(is_told, describe=lambda: self.told)
        self.told.clear()

    def commit(self, offset: int) -> None:
        self._consumer.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=False)

    def close(self) -> None:
        self._consumer.close()


@pytest.fixture
def reader(coordinator: Coordinator) -> Iterator[Reader]:
    reader = Reader(coordinator.bootstrap_servers)
    yield reader
    reader.close()


def test_a_consumer_gets_over_every_fault(coordinator: Coordinator, reader: Reader) -> None:
    """It tells a rebalance from the loss of its membership, repeats what may be repeated, and finds the server again."""
    reader.hears("assigned 6")
    [member] = coordinator.group("readers").members
    assert member.assignment == {"orders": list(range(PARTITIONS))}
    coordinator.rebalance("readers")
    reader.hears("revoked 6", "assigned 6")
    coordinator.fence(member)
    reader.hears("lost 6", "assigned 6")
    coordinator.advance(31)
    reader.hears("lost 6", "assigned 6")

    coordinator.fail_next("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS")
    reader.commit(5)
    assert coordinator.committed("readers") == {("orders", 0): 5}
    coordinator.fail_next("OffsetCommit", "REBALANCE_IN_PROGRESS")
    with pytest.raises(KafkaException, match="rebalance in progress"):
        reader.commit(6)
    assert coordinator.committed("readers") == {("orders", 0): 5}

    assert coordinator.disconnect("reader") >= 1
    reader.commit(7)
    coordinator.restart()
    reader.commit(8)
    coordinator.kill()
    coordinator.restart()
    reader.commit(9)
    assert coordinator.committed("readers") == {("orders", 0): 9}
    assert reader.told == []
