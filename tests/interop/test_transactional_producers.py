"""Transactional producers of Java and franz-go (transactions of version 2), of librdkafka and franz-go (version 1): offsets move
when a transaction commits, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import confluent_kafka
import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.interop.clients import ConfluentAdmin
from tests.interop.crew import Refused
from tests.interop.transactional import LIBRARIES, Transactional
from tests.support import simple_requests
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.producer import Producer, home_of
from tests.support.server import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With two loops: the group and the transactional id may have different ones."""
    overrides = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 100}
    with Server(tmp_path_factory.mktemp("transactional"), overrides, loops=2) as server:
        yield server


@pytest.fixture(params=list(LIBRARIES))
def make(request: pytest.FixtureRequest, server: Server) -> Iterator[Callable[[str], Transactional]]:
    """Makes producers that have an epoch."""
    producers: list[Transactional] = []

    def make(transactional_id: str) -> Transactional:
        producers.append(LIBRARIES[request.param](server.bootstrap, transactional_id))
        producers[-1].call("init")
        return producers[-1]

    yield make
    for producer in producers:
        producer.close()


def committed(server: Server, group: str, topic: str) -> dict[int, int]:
    """The stable offsets of a group."""
    with Client(home_of(server.address, group, simple_requests.OF_GROUPS)) as client:
        return {
            partition: offset for (name, partition), offset in simple_requests.committed(client, group).items() if name == topic
        }


def begun(server: Server, make: Callable[[str], Transactional], name: str) -> Transactional:
    """A producer with an offset of a group in an open transaction. Topic, group and transactional id have one name."""
    ConfluentAdmin(server.bootstrap).create_topic(name, 3)
    producer = make(name)
    producer.call("begin")
    producer.call("offsets", [name, name, {"0": 5}])
    return producer


def commits(producer: Transactional) -> bool:
    """Whether a commit is one: it may be refused, and become an abort where a library's member was
    fenced out of its group first.
    """
    try:
        return producer.call("commit") is not False
    except Refused:
        return False


def test_offsets_move_when_the_transaction_commits(server: Server, make: Callable[[str], Transactional], fresh_name: str) -> None:
    """Those of several groups together; of an aborted transaction, none."""
    ConfluentAdmin(server.bootstrap).create_topic(fresh_name, 3)
    groups = [f"{fresh_name}-{number}" for number in range(4)]
    producer = make(fresh_name)
    for number, end in enumerate(["commit", "abort", "commit", "abort"]):
        producer.call("begin")
        for group in groups:
            producer.call("offsets", [group, fresh_name, {"0": 10 + number, "2": 20 + number}])
        producer.call(end)

    with Producer(server.address, fresh_name) as observer:
        observer.until("CompleteAbort")
    assert [committed(server, group, fresh_name) for group in groups] == [{0: 12, 2: 22}] * 4


def test_a_second_producer_fences_the_first(server: Server, make: Callable[[str], Transactional], fresh_name: str) -> None:
    first = begun(server, make, fresh_name)
    second = make(fresh_name)
    second.call("begin")
    second.call("offsets", [fresh_name, fresh_name, {"1": 6}])

    assert not commits(first)
    second.call("commit")
    eventually(lambda: committed(server, fresh_name, fresh_name) == {1: 6})


def test_a_producer_that_also_sends_is_refused_and_aborts(
    server: Server, make: Callable[[str], Transactional], fresh_name: str
) -> None:
    """There are no records here. It goes on with its next transaction."""
    producer = begun(server, make, fresh_name)
    with pytest.raises(Refused):
        producer.call("produce", fresh_name)
    producer.call("abort")
    producer.call("begin")
    producer.call("offsets", [fresh_name, fresh_name, {"1": 6}])
    producer.call("commit")

    eventually(lambda: committed(server, fresh_name, fresh_name) == {1: 6})


def test_a_transaction_that_takes_too_long_never_counts(
    server: Server, make: Callable[[str], Transactional], fresh_name: str
) -> None:
    producer = begun(server, make, fresh_name)
    with Producer(server.address, fresh_name) as observer:
        observer.until("CompleteAbort")

    with pytest.raises(Refused):
        producer.call("commit")
    assert committed(server, fresh_name, fresh_name) == {}


def test_a_member_of_the_new_protocol_commits_in_a_transaction(server: Server, fresh_name: str) -> None:
    """With its member id and epoch (KIP-848, KIP-447), which end with its membership."""
    ConfluentAdmin(server.bootstrap).create_topic(fresh_name, 3)
    words = {"bootstrap.servers": server.bootstrap, "group.id": fresh_name, "group.protocol": "consumer"}
    consumer = Consumer({**words, "enable.auto.commit": False})
    consumer.subscribe([fresh_name])

    def has_all() -> bool:
        consumer.poll(0.1)
        return len(consumer.assignment()) == 3

    eventually(has_all, 30)
    producer = confluent_kafka.Producer({"bootstrap.servers": server.bootstrap, "transactional.id": fresh_name})
    producer.init_transactions(30)
    for offset in (5, 6):
        producer.begin_transaction()
        producer.send_offsets_to_transaction([TopicPartition(fresh_name, 1, offset)], consumer.consumer_group_metadata(), 30)
        producer.commit_transaction(30)
    eventually(lambda: committed(server, fresh_name, fresh_name) == {1: 6})

    membership = consumer.consumer_group_metadata()
    consumer.close()
    producer.begin_transaction()
    with pytest.raises(confluent_kafka.KafkaException, match=r"UNKNOWN_MEMBER_ID|[Uu]nknown member"):
        producer.send_offsets_to_transaction([TopicPartition(fresh_name, 1, 7)], membership, 30)
    producer.abort_transaction(30)
    assert committed(server, fresh_name, fresh_name) == {1: 6}
