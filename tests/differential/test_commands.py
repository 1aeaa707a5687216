"""The commands that ask running servers, about a Kafka broker: with ``--live`` (Java and Maven)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from tests.support.cluster_commands import Command
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker

pytestmark = pytest.mark.live
MESSAGES = 30
TOPIC = "orders"


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with KafkaBroker(tmp_path_factory.mktemp("kafka")) as broker:
        broker.start()
        yield f"{broker.address[0]}:{broker.address[1]}"


@pytest.fixture
def ask(bootstrap: str, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(bootstrap, capsys)


def consumer(bootstrap: str, group: str, protocol: str) -> Consumer:
    words = {"group.protocol": protocol, "client.id": f"of-{group}", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    made = Consumer({"bootstrap.servers": bootstrap, "group.id": group, **words})
    made.subscribe([TOPIC])
    return made


def read_all(reader: Consumer) -> None:
    read: list[object] = []

    def is_done() -> bool:
        read.extend(message for message in reader.consume(100, 0.2) if message.error() is None)
        return len(read) == MESSAGES

    eventually(is_done, 60)
    reader.commit(asynchronous=False)


def produce(bootstrap: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(MESSAGES):
        producer.produce(TOPIC, b"x", partition=number % 3)
    producer.flush(30)


def make_topic(ask: Command, name: str) -> None:
    """A topic of three partitions."""
    assert ask("topics", "create", name, "--partitions", "2", "--replicas", "1").code == 0
    assert ask.rows("topics", "create", name, "--partitions", "2", "--execute")[0]["outcome"] == "created"
    eventually(lambda: name in ask("topics", "list").out)
    assert ask.rows("topics", "grow", name, "--partitions", "3", "--execute")[0]["outcome"] == "grown"
    eventually(lambda: len(ask.rows("topics", "describe", name)) == 3)


def test_groups_of_a_kafka_broker(ask: Command, bootstrap: str, tmp_path: Path) -> None:
    """Of both protocols: members, offsets with their lag, and each change with its preview."""
    make_topic(ask, TOPIC)
    produce(bootstrap)
    readers = {name: consumer(bootstrap, name, name) for name in ("classic", "consumer")}
    for reader in readers.values():
        read_all(reader)
    produce(bootstrap)

    listed = {each["group"]: (each["type"], each["state"]) for each in ask.rows("groups", "list")}
    assert listed == {"classic": ("classic", "Stable"), "consumer": ("consumer", "Stable")}
    for name, reader in readers.items():
        look_at_members(ask, name)
        reader.close()
        eventually(partial(is_empty, ask, name), 60)
        change_offsets(ask, name, tmp_path / f"{name}.csv")
    assert ask.rows("groups", "list") == []


def is_empty(ask: Command, name: str) -> bool:
    return bool(ask.rows("groups", "describe", name)[0]["state"] == "Empty")


def look_at_members(ask: Command, name: str) -> None:
    [member] = ask.rows("groups", "members", name)
    offsets = ask.rows("groups", "offsets", name)
    busy = ask("groups", "reset", name, "--all-topics", "--to-latest", "--execute")
    evicted = ask.rows("groups", "evict", name, "--all", "--execute")

    assert (member["client_id"], member["assignment"]) == (f"of-{name}", {TOPIC: [0, 1, 2]})
    assert [(each["offset"], each["lag"], each["client_id"]) for each in offsets] == [(10, 10, f"of-{name}")] * 3
    assert (busy.code, "the group has 1 member" in busy.out, f"of of-{name}" in busy.err) == (1, True, True)
    assert [each["outcome"] for each in evicted] == ["evicted"]


def change_offsets(ask: Command, name: str, exported: Path) -> None:
    """Offsets stay among the messages of their partitions, which are twenty."""
    back = ask.rows("groups", "reset", name, "--all-topics", "--shift-by", "-3", "--execute")
    inside = ask.rows("groups", "reset", name, "--topic", f"{TOPIC}:0", "--to-offset", "1000")
    ends = ask.rows("groups", "reset", name, "--topic", f"{TOPIC}:0", "--to-datetime", "2999-01-01")
    exported.write_text(ask("groups", "export", name).out)
    cloned = ask.rows("groups", "clone", name, f"{name}-2", "--execute")
    imported = ask.rows("groups", "import", str(exported))
    less = ask.rows("groups", "delete-offsets", name, "--topic", f"{TOPIC}:2", "--execute")
    deleted = ask.rows("groups", "delete", name, f"{name}-2", "--execute")

    assert [(each["before"], each["after"], each["outcome"]) for each in back] == [(10, 7, "set")] * 3
    assert [each["after"] for each in (*inside, *ends)] == [20, 20]
    assert [each["outcome"] for each in cloned] == ["set"] * 3
    assert [each["before"] for each in imported] == [7] * 3
    assert [each["outcome"] for each in (*less, *deleted)] == ["deleted"] * 3


def test_settings_and_states_of_a_kafka_broker(ask: Command) -> None:
    make_topic(ask, "settled")
    where, setting = ("group", "g"), "consumer.session.timeout.ms"

    assert ask("configs", "set", *where, f"{setting}=1").code == 1
    assert ask.rows("configs", "set", *where, f"{setting}=50000", "--execute")[0]["outcome"] == "set"
    eventually(lambda: {each["name"]: each["value"] for each in ask.rows("configs", "describe", *where)}.get(setting) == "50000")
    assert ask.rows("configs", "unset", *where, setting, "--execute")[0]["before"] == "50000"
    assert {"kind": "topic", "name": "settled"} in ask.rows("configs", "list")
    assert ask.rows("transactions", "list") == []
    assert ask.rows("health")[0]["state"] == "serving"
    assert ask("doctor", "--watch", "0.1").code == 0
    assert ask.rows("topics", "delete", "settled", "--execute")[0]["outcome"] == "deleted"
