"""``coordinator-server observe`` on brokers of the oldest and the newest version that it follows, and of one between.

With ``--live`` (Java and Maven; the jars of each version are brought once).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from coordinator_server.observe.facts import read_facts
from protocol.error_codes import ErrorCode
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.simple_requests import create_topic

pytestmark = pytest.mark.live

VERSIONS: Final = ("2.8.2", "3.3.2", "3.9.1", "4.3.1")
TOPIC: Final = "orders"
WRITTEN: Final = 100
_MADE: Final = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)


@pytest.fixture(scope="module", params=VERSIONS)
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    with KafkaBroker(tmp_path_factory.mktemp("kafka"), request.param) as broker:
        broker.start()
        with broker.client() as client:
            # Some answer before they have told their controller that they are there.
            eventually(lambda: create_topic(client, TOPIC, 2, version=5).error_code in _MADE, 120)
        yield broker


def read(broker: KafkaBroker, observed: Path) -> str:
    done = run_command("observe", "--bootstrap", broker.bootstrap, "--data-dir", observed, "--once", "--log-level", "warning")
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask(observed: Path, *words: str) -> Any:
    done = run_command(*words, "--data-dir", observed, "-o", "json")
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout)


def write(broker: KafkaBroker, count: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(count):
        producer.produce(TOPIC, b"%d" % number, partition=0)
    assert producer.flush(60) == 0


def consume(broker: KafkaBroker, count: int) -> None:
    """A member that joins, reads, commits its position, and leaves."""
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": "readers", "enable.auto.commit": False}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest", "client.id": "reader"})
    consumer.subscribe([TOPIC])
    read = 0
    while read < count:
        message = consumer.poll(60)
        assert message is not None, f"{read} messages were read"
        # A broker that is slow to answer is an event, too.
        read += message.error() is None
    consumer.commit(asynchronous=False)
    consumer.close()


def commit_in_transaction(broker: KafkaBroker, offset: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "mover"})
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "moved"})
    producer.init_transactions(60)
    for each, ends in ((offset, producer.commit_transaction), (offset + 1, producer.abort_transaction)):
        producer.begin_transaction()
        producer.send_offsets_to_transaction([TopicPartition(TOPIC, 1, each)], consumer.consumer_group_metadata(), 60)
        ends(60)
    consumer.close()


def of_the_cluster(broker: KafkaBroker, group: str) -> dict[int, int]:
    """The positions of a group, as another library is told them."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    found = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(60)
    return {each.partition: each.offset for each in found.topic_partitions}


def test_a_cluster_of_a_version_is_followed(broker: KafkaBroker, tmp_path: Path) -> None:
    """Through a restart: list, why, at, lag and transactions, beside what the cluster itself says."""
    observed = tmp_path / "observed"
    write(broker, WRITTEN)
    consume(broker, 30)
    assert "observing the cluster" in read(broker, observed)
    broker.stop()
    broker.start()
    consume(broker, 10)
    commit_in_transaction(broker, 7)
    eventually(lambda: of_the_cluster(broker, "moved") == {1: 7})
    read(broker, observed)

    assert {row["group"] for row in ask(observed, "groups", "list")} == {"readers", "moved"}
    [mine] = ask(observed, "groups", "lag", "readers")
    theirs = of_the_cluster(broker, "readers")
    assert {mine["partition"]: mine["offset"]} == theirs == {0: 40}
    assert (mine["end_offset"], mine["lag"]) == (WRITTEN, WRITTEN - 40)
    [moved] = ask(observed, "groups", "lag", "moved")
    assert (moved["offset"], moved["end_offset"], moved["lag"]) == (7, 0, 0)
    why = msgspec.json.encode(ask(observed, "groups", "why", "readers")).decode()
    assert "reader" in why
    at = run_command("groups", "at", "readers", "1s ago", "--data-dir", observed)
    assert at.returncode == 0, at.stderr
    assert "40" in run_command("groups", "offsets", "readers", "--data-dir", observed).stdout
    assert {row["transactional_id"] for row in ask(observed, "transactions", "list")} == {"mover"}
    beside = run_command("verify", "--data-dir", observed, "--engine", "python", "--bootstrap", broker.bootstrap)
    assert beside.returncode == 0, beside.stdout
    facts = read_facts(observed)
    assert sum(each.missing for each in facts.shards.values()) == 0
    assert facts.set_aside == []
