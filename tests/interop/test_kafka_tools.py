"""Kafka's own command-line tools, and the consumer that its system tests use, against this server;
run where `--clients` names java.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from coordinator_server.cli import main
from coordinator_server.server.apis.features import EPOCH
from protocol.error_codes import ErrorCode
from tests.interop.clients import ConfluentAdmin
from tests.interop.crew import ClientProcess, Crew
from tests.interop.programs import java_command
from tests.support.client import Client
from tests.support.cluster_commands import join_consumer
from tests.support.eventually import eventually
from tests.support.producer import Producer, home_of
from tests.support.simple_requests import OF_GROUPS, must_commit

GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
CONSOLE = "org.apache.kafka.tools.consumer.ConsoleConsumer"
FORMATTER = "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
FEATURES = "org.apache.kafka.tools.FeatureCommand"
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
VERIFIABLE = "org.apache.kafka.tools.VerifiableConsumer"

Tool = Callable[..., str]


@pytest.fixture(scope="module")
def tool(shared_bootstrap: str) -> Iterator[Tool]:
    """Runs a tool; what it printed. It has to end well, unless told otherwise."""
    process = ClientProcess(java_command("Tools"))

    def run(name: str, *words: str, code: int | None = 0) -> str:
        ended, printed = process.call(name, ["--bootstrap-server", shared_bootstrap, *words], within_s=120)
        assert code is None or ended == code, printed
        text: str = printed
        return text

    yield run
    process.clean_up()


@pytest.fixture
def settled(shared_bootstrap: str, crew_of: Callable[[str, str], Crew]) -> Crew:
    """A group of one member, that has committed of two of its six partitions."""
    group = crew_of("confluent-kafka", shared_bootstrap)
    group.join(1).settle()[0].commit({0: 5, 1: 7})
    return group


def rows(printed: str) -> list[dict[str, str]]:
    """A table as the tools print it, by the names in its head."""
    lines = [line.split() for line in printed.splitlines() if line.strip()]
    heads = [
        place
        for place, words in enumerate(lines)
        if words[0] in {"GROUP", "TOPIC", "TransactionalId", "CoordinatorId", "ProducerId", "Topic"}
    ]
    return [
        dict(zip(lines[heads[0]], words, strict=False))
        for words in lines[heads[0] + 1 :]
        if len(words) >= len(lines[heads[0]]) - 1
    ]


def objects(printed: str) -> Iterator[dict[str, Any]]:
    """JSON objects that follow each other without anything between them, and a text behind them."""
    start = printed.find('{"key"')
    while start >= 0:
        read, end = json.JSONDecoder().raw_decode(printed, start)
        yield read
        start = printed.find('{"key"', end)


def test_kafka_consumer_groups_looks_on(tool: Tool, settled: Crew) -> None:
    """--list, and --describe of positions, members and state, of a group that lives."""
    group = settled.group

    assert group in tool(GROUPS, "--list").split()
    positions = rows(tool(GROUPS, "--describe", "--group", group))
    assert {row["PARTITION"]: row["CURRENT-OFFSET"] for row in positions} == {"0": "5", "1": "7"} | dict.fromkeys("2345", "-")
    assert all(row["CLIENT-ID"] == "rdkafka" and row["HOST"] == "/127.0.0.1" for row in positions)
    [member] = rows(tool(GROUPS, "--describe", "--group", group, "--members"))
    assert member["#PARTITIONS"] == "6"
    assert "Stable" in tool(GROUPS, "--describe", "--group", group, "--state")


def test_kafka_consumer_groups_changes(tool: Tool, settled: Crew) -> None:
    """A group with members keeps its positions and its life; of an empty one positions are reset and deleted, then the group."""
    group, topic = settled.group, settled.topic
    assert "not empty" in tool(GROUPS, "--delete", "--group", group, code=None)
    settled.leave(settled.members[0])

    # The tool keeps to the offsets that there are messages of, and there are none: 0 it is, see docs/differences.md.
    reset = tool(GROUPS, "--reset-offsets", "--group", group, "--topic", f"{topic}:1", "--to-earliest", "--execute")
    assert [(row["PARTITION"], row["NEW-OFFSET"]) for row in rows(reset)] == [("1", "0")]
    assert "Successful" in tool(GROUPS, "--delete-offsets", "--group", group, "--topic", f"{topic}:0")
    left = rows(tool(GROUPS, "--describe", "--group", group))
    assert [(row["PARTITION"], row["CURRENT-OFFSET"]) for row in left] == [("1", "0")]
    assert "successful" in tool(GROUPS, "--delete", "--group", group)
    assert group not in tool(GROUPS, "--list").split()


@pytest.fixture
def modern(tool: Tool, shared_bootstrap: str, fresh_name: str) -> Iterator[Consumer]:
    """A consumer of the new protocol (KIP-848) with the three partitions of a topic that has the name of its group."""
    tool(TOPICS, "--create", "--topic", fresh_name, "--partitions", "3")
    words = {"group.protocol": "consumer", "client.id": "modern", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": shared_bootstrap, "group.id": fresh_name, **words})
    consumer.subscribe([fresh_name])

    def has_all() -> bool:
        consumer.poll(0.1)
        return len(consumer.assignment()) == 3

    eventually(has_all, 30)
    yield consumer
    consumer.close()


def test_kafka_consumer_groups_knows_groups_of_the_new_protocol(tool: Tool, modern: Consumer, fresh_name: str) -> None:
    """Their type and state, the epochs of members, what they have and are to have; and they are deleted when they are empty."""
    group = ("--group", fresh_name)
    modern.commit(offsets=[TopicPartition(fresh_name, 1, 7)], asynchronous=False)

    assert fresh_name in tool(GROUPS, "--list", "--type", "consumer", "--state", "stable")
    assert fresh_name not in tool(GROUPS, "--list", "--type", "classic")
    positions = rows(tool(GROUPS, "--describe", *group))
    assert {row["PARTITION"]: row["CURRENT-OFFSET"] for row in positions} == {"0": "-", "1": "7", "2": "-"}
    [state] = rows(tool(GROUPS, "--describe", *group, "--state", "--verbose"))
    assert (state["STATE"], state["#MEMBERS"], state["GROUP-EPOCH"], state["TARGET-ASSIGNMENT-EPOCH"]) == (
        "Stable",
        "1",
        "2",
        "2",
    )
    assert state["ASSIGNMENT-STRATEGY"] == "uniform"
    printed = tool(GROUPS, "--describe", *group, "--members", "--verbose")
    [member] = rows(printed)
    assert (member["HOST"], member["CLIENT-ID"], member["#PARTITIONS"], member["CURRENT-EPOCH"]) == (
        "/127.0.0.1",
        "modern",
        "3",
        "2",
    )
    assert (member["CURRENT-ASSIGNMENT"], member["TARGET-EPOCH"]) == (f"{fresh_name}:0,1,2", "2")
    assert member["TARGET-ASSIGNMENT"] == f"{fresh_name}:0,1,2"
    assert "not empty" in tool(GROUPS, "--delete", *group, code=None)

    modern.close()
    assert "Empty" in tool(GROUPS, "--describe", *group, "--state")
    assert "successful" in tool(GROUPS, "--delete", *group)
    assert fresh_name not in tool(GROUPS, "--list").split()


def lines(printed: str, of: str = "") -> list[str]:
    """The lines of tables and of CSV, in any order, as Kafka's tool has groups and new offsets in that of a hash table.

    It quotes long names in CSV, which need no quotes. ``of`` keeps the heading, and what names it: groups of other tests
    share the server, and lose their members at any moment.
    """
    return sorted(
        line.rstrip().replace('"', "")
        for line in printed.splitlines()
        if line.strip() and not line.startswith(("Consumer group", "Warning:")) and (of in line or line.startswith("GROUP"))
    )


def test_our_consumer_groups_prints_the_tables_of_kafkas(
    tool: Tool, settled: Crew, shared_bootstrap: str, fresh_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Character by character: of a classic group, of one of the new protocol, and of one without members."""
    empty, modern, topic = f"a-name-that-is-wider-than-a-column-{fresh_name}", f"modern-{fresh_name}", settled.topic
    with Client(home_of(first_of(shared_bootstrap), empty, OF_GROUPS)) as client:
        must_commit(client, empty, topic, {0: 5, 2: 9})
    with Client(home_of(first_of(shared_bootstrap), modern, OF_GROUPS)) as client:
        join_consumer(client, modern, "m1", topic, range(6))
    groups = [word for each in (settled.group, modern, empty) for word in ("--group", each)]
    reset = ("--reset-offsets", "--group", empty)

    for words in (
        ("--list",),
        ("--list", "--state"),
        ("--list", "--state", "empty", "--type", "classic,consumer"),
        *(("--describe", *groups, *kind) for kind in ((), ("--members",), ("--state",))),
        *(("--describe", *groups, *kind, "--verbose") for kind in ((), ("--members",), ("--state",))),
        (*reset, "--all-topics", "--to-current", "--dry-run"),
        (*reset, "--topic", f"{topic}:0", "--topic", f"{topic}:2", "--to-latest", "--dry-run"),
        (*reset, "--all-topics", "--to-current", "--dry-run", "--export"),
        ("--delete-offsets", "--group", empty, "--topic", f"{topic}:2"),
        (*reset, "--all-topics", "--to-earliest", "--execute"),
        ("--describe", "--group", empty),
    ):
        theirs = tool(GROUPS, *words)
        assert main(["kafka-consumer-groups", "--bootstrap-server", shared_bootstrap, *words]) == 0
        ours = capsys.readouterr().out
        of = fresh_name if words[0] == "--list" else ""
        assert lines(ours, of) == lines(theirs, of), words

    assert main(["kafka-consumer-groups", "--bootstrap-server", shared_bootstrap, "--delete", "--group", empty]) == 0
    assert capsys.readouterr().out == f"Deletion of requested consumer groups ('{empty}') was successful.\n"


def first_of(bootstrap: str) -> tuple[str, int]:
    host, _, port = bootstrap.partition(",")[0].rpartition(":")
    return host, int(port)


def test_kafka_topics(tool: Tool, fresh_name: str) -> None:
    """Topics are made, listed, described, given more partitions, and deleted."""
    tool(TOPICS, "--create", "--topic", fresh_name, "--partitions", "2")
    assert {fresh_name, "__consumer_offsets"} <= set(tool(TOPICS, "--list").split())
    tool(TOPICS, "--alter", "--topic", fresh_name, "--partitions", "4")

    described = tool(TOPICS, "--describe", "--topic", fresh_name)
    assert re.search(rf"Topic: {fresh_name}\s+TopicId: \S{{22}}\s+PartitionCount: 4\s+ReplicationFactor: 1", described)
    # Of several nodes any may be the leader of a topic without records.
    assert re.findall(r"Partition: (\d)\s+Leader: [123]\s", described) == ["0", "1", "2", "3"]
    tool(TOPICS, "--delete", "--topic", fresh_name)
    assert fresh_name not in tool(TOPICS, "--list").split()


def test_kafka_configs(tool: Tool, fresh_name: str) -> None:
    """Settings of a topic and of a group are set, shown and taken back; a broker shows what it was started with."""
    tool(TOPICS, "--create", "--topic", fresh_name, "--partitions", "1", "--config", "retention.ms=77")
    for kind, setting in (("topics", "retention.ms"), ("groups", "consumer.session.timeout.ms")):
        entity = ("--entity-type", kind, "--entity-name", fresh_name)

        tool(CONFIGS, *entity, "--alter", "--add-config", f"{setting}=50000")
        assert f"{setting}=50000 sensitive=false" in tool(CONFIGS, *entity, "--describe")
        tool(CONFIGS, *entity, "--alter", "--delete-config", setting)
        assert setting not in tool(CONFIGS, *entity, "--describe")

    refused = tool(CONFIGS, *entity, "--alter", "--add-config", f"{setting}=1", code=1)
    assert "consumer.session.timeout.ms" in refused
    shown = tool(CONFIGS, "--entity-type", "brokers", "--entity-name", "1", "--describe", "--all")
    assert "group.initial.rebalance.delay.ms=0" in shown


def test_kafka_configs_sets_quotas(tool: Tool, fresh_name: str) -> None:
    """Of a user with a client id. Nobody else is slowed down by it."""
    entity = ("--entity-type", "users", "--entity-name", fresh_name, "--entity-type", "clients", "--entity-name", fresh_name)
    tool(CONFIGS, "--alter", *entity, "--add-config", "request_percentage=200,producer_byte_rate=1024")
    described = tool(CONFIGS, "--describe", *entity)
    assert "request_percentage=200.0" in described
    assert "producer_byte_rate=1024.0" in described
    tool(CONFIGS, "--alter", *entity, "--delete-config", "request_percentage,producer_byte_rate")

    assert "request_percentage" not in tool(CONFIGS, "--describe", *entity)


def test_kafka_features(tool: Tool) -> None:
    """What is in use, with the epoch that clients compare."""
    told = {line.split()[1]: line.split() for line in tool(FEATURES, "describe").splitlines() if line.startswith("Feature:")}

    assert told.keys() == {"metadata.version", "transaction.version", "group.version", "share.version", "streams.version"}
    assert told["transaction.version"][3:8:2] == ["0", "2", "2"]
    assert told["metadata.version"][-1] == str(EPOCH)


@pytest.fixture
def opened(shared_bootstrap: str, fresh_name: str) -> Iterator[Producer]:
    """A producer of that name with an open transaction: two offsets of a group."""
    ConfluentAdmin(shared_bootstrap).create_topic(fresh_name, 2)
    with Producer(first_of(shared_bootstrap), fresh_name) as producer:
        assert producer.init().error == ErrorCode.NONE
        assert producer.commit(f"group-{fresh_name}", fresh_name, {0: 5, 1: 7}) == {ErrorCode.NONE}
        yield producer


def test_kafka_transactions_looks_on(tool: Tool, opened: Producer) -> None:
    """list with its filters, describe, describe-producers; a transaction that goes on is not a hanging one."""
    listed = rows(tool(TRANSACTIONS, "list"))
    assert [(row["ProducerId"], row["TransactionState"]) for row in listed if row["TransactionalId"] == opened.id] == [
        (str(opened.producer_id), "Ongoing")
    ]
    assert opened.id in tool(TRANSACTIONS, "list", "--transactional-id-pattern", f"{opened.id[:6]}.*")
    assert opened.id not in tool(TRANSACTIONS, "list", "--duration-filter", "1000000")
    [described] = rows(tool(TRANSACTIONS, "describe", "--transactional-id", opened.id))
    [partition] = opened.described().topics[0].partitions
    assert (described["TransactionState"], described["ProducerEpoch"]) == ("Ongoing", "0")
    assert described["TopicPartitions"] == f"__consumer_offsets-{partition}"
    words = ("--topic", "__consumer_offsets", "--partition", str(partition))
    producers = rows(tool(TRANSACTIONS, "describe-producers", *words))
    assert [row["ProducerEpoch"] for row in producers if row["ProducerId"] == str(opened.producer_id)] == ["0"]
    assert rows(tool(TRANSACTIONS, "find-hanging", "--broker-id", "1")) == []


def test_kafka_transactions_aborts(tool: Tool, opened: Producer) -> None:
    """The transaction whose first record has that offset: its partition has no open transaction then."""
    [partition] = opened.described().topics[0].partitions
    words = ("--topic", "__consumer_offsets", "--partition", str(partition))
    [start] = [
        row["CurrentTransactionStartOffset"]
        for row in rows(tool(TRANSACTIONS, "describe-producers", *words))
        if row["ProducerId"] == str(opened.producer_id)
    ]
    tool(TRANSACTIONS, "abort", *words, "--start-offset", start)

    [after] = [
        row for row in rows(tool(TRANSACTIONS, "describe-producers", *words)) if row["ProducerId"] == str(opened.producer_id)
    ]
    assert after["CurrentTransactionStartOffset"] == "None"


def test_the_console_consumer_tails_the_offsets_topic(tool: Tool, settled: Crew) -> None:
    """With Kafka's formatter: each commit as JSON, from the log that this server writes."""
    words = ("--topic", "__consumer_offsets", "--from-beginning", "--formatter", FORMATTER, "--timeout-ms", "3000")
    printed = tool(CONSOLE, *words, code=None)

    commits = [(read["key"]["data"], read["value"]["data"]["offset"]) for read in objects(printed) if read["value"]]
    ours = [(key["topic"], key["partition"], offset) for key, offset in commits if key["group"] == settled.group]
    assert ours == [(settled.topic, 0, 5), (settled.topic, 1, 7)]


def test_verifiable_consumers_share_what_there_is(shared_bootstrap: str, fresh_name: str) -> None:
    """The consumer of Kafka's system tests: two of them divide six partitions; one is stopped, the other has them all."""
    ConfluentAdmin(shared_bootstrap).create_topic(fresh_name, 6)
    words = (
        "--bootstrap-server",
        shared_bootstrap,
        "--topic",
        fresh_name,
        "--group-id",
        fresh_name,
        "--session-timeout",
        "60000",
    )
    consumers = [_Verifiable(java_command(VERIFIABLE, *words)) for _ in range(2)]
    try:
        eventually(lambda: sorted(len(consumer.owned()) for consumer in consumers) == [3, 3], 60)
        assert sorted(consumers[0].owned() | consumers[1].owned()) == list(range(6))

        consumers[0].stop()

        eventually(lambda: consumers[1].owned() == set(range(6)), 30)
    finally:
        for consumer in consumers:
            consumer.kill()


class _Verifiable:
    """A VerifiableConsumer, which prints an event per line."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout is not None
        self._lines: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def owned(self) -> set[int]:
        owned: set[int] = set()
        for event in self._lines:
            changed = {each["partition"] for each in event.get("partitions", []) if isinstance(each, dict)}
            if event["name"] == "partitions_assigned":
                owned |= changed
            elif event["name"] == "partitions_revoked":
                owned -= changed
        return owned

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if re.match(r"\{.*\}$", line):
                self._lines.append(json.loads(line))
