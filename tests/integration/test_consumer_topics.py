"""Topics and settings of consumer groups on a server of two loops: a change made through either reaches the groups of both."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import create_topic

LOOPS = 2
GROUP = 32
PROPERTIES = {"topics": "orders:1", "group.consumer.assignment.interval.ms": 0}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("pair"), PROPERTIES, loops=LOOPS) as server:
        yield server


@pytest.fixture
def clients(pair: Server) -> Iterator[list[Client]]:
    """One at each loop."""
    with ExitStack() as stack:
        yield [stack.enter_context(Client(address)) for address in pair.addresses]


class Member:
    """The only member of a group whose shard a loop has. ``assigned`` is what it was told last, by topic id."""

    def __init__(self, client: Client, loop: int, prefix: str, topics: list[str] | None, regex: str | None = None) -> None:
        self.client = client
        numbers = range(1000)
        self.group_id = next(name for name in (f"{prefix}-{n}" for n in numbers) if partition_for(name, 50) % LOOPS == loop)
        self.assigned: dict[bytes, list[int]] = {}
        join = ConsumerGroupHeartbeatRequest(self.group_id, "m", 0, None, None, 60_000, topics, regex, None, [])
        self._epoch = 0
        self.last = self._ask(join)

    def beat(self) -> dict[bytes, list[int]]:
        """A heartbeat that says what the member has; the assignment after it."""
        owned = [TopicPartitions(topic_id, numbers) for topic_id, numbers in self.assigned.items()]
        self.last = self._ask(ConsumerGroupHeartbeatRequest(self.group_id, "m", self._epoch, topic_partitions=owned))
        return self.assigned

    def _ask(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
        answer = self.client.ask(request, 1, ConsumerGroupHeartbeatResponse)
        assert answer.error_code == ErrorCode.NONE, answer.error_message
        self._epoch = answer.member_epoch
        if answer.assignment is not None:
            self.assigned = {topic.topic_id: topic.partitions for topic in answer.assignment.topic_partitions}
        return answer


@pytest.mark.parametrize("asked", range(LOOPS))
def test_a_topic_is_created_extended_and_deleted(clients: list[Client], asked: int) -> None:
    """Each time the next heartbeat of the members says so, on both loops."""
    name = f"topic-{asked}"
    members = [Member(client, loop, name, [name, "orders"]) for loop, client in enumerate(clients)]
    before = [member.assigned for member in members]

    topic_id = create_topic(clients[asked], name, 1).topic_id
    assert [member.beat() for member in members] == [{**each, topic_id: [0]} for each in before]

    request = CreatePartitionsRequest([CreatePartitionsTopic(name, 3, None)])
    [grown] = clients[asked].ask(request, 3, CreatePartitionsResponse).results
    assert grown.error_code == ErrorCode.NONE
    assert [member.beat() for member in members] == [{**each, topic_id: [0, 1, 2]} for each in before]

    [gone] = clients[asked].ask(DeleteTopicsRequest([DeleteTopicState(name)]), 6, DeleteTopicsResponse).responses
    assert gone.error_code == ErrorCode.NONE
    assert [member.beat() for member in members] == before
    assert all(len(each) == 1 for each in before)


def test_a_regular_expression_is_resolved_on_every_loop(clients: list[Client]) -> None:
    """The first answer has no partitions; a later one has those of all topics that match."""
    ids = {create_topic(clients[0], f"team-{number}", 1).topic_id for number in range(3)}
    members = [Member(client, loop, "regex", None, "team-[0-9]") for loop, client in enumerate(clients)]

    assert [member.assigned for member in members] == [{}, {}]
    for member in members:
        eventually(partial(_has, member, ids))


def test_an_invalid_expression_is_refused_in_kafkas_words(clients: list[Client]) -> None:
    request = ConsumerGroupHeartbeatRequest("invalid", "m", 0, None, None, 60_000, None, "team-(", None, [])
    answers = [client.ask(request, 1, ConsumerGroupHeartbeatResponse) for client in clients]

    [answer] = [each for each in answers if each.error_code != ErrorCode.NOT_COORDINATOR]
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert answer.error_message == "SubscribedTopicRegex `team-(` is not a valid regular expression: missing closing )."


@pytest.mark.parametrize("asked", range(LOOPS))
def test_a_setting_of_a_group_counts_at_its_next_heartbeat(clients: list[Client], asked: int) -> None:
    """On whichever loop the group is. Without a setting of its own it has the server's again."""
    members = [Member(client, loop, f"setting-{asked}", ["orders"]) for loop, client in enumerate(clients)]
    intervals = []
    for operation in (0, 1):
        change = AlterableConfig("consumer.heartbeat.interval.ms", operation, "7000")
        resources = [AlterConfigsResource(GROUP, member.group_id, [change]) for member in members]
        told = clients[asked].ask(IncrementalAlterConfigsRequest(resources), 1, IncrementalAlterConfigsResponse).responses
        assert [each.error_code for each in told] == [ErrorCode.NONE] * LOOPS
        for member in members:
            member.beat()
        intervals.append([member.last.heartbeat_interval_ms for member in members])

    assert intervals == [[7000, 7000], [5000, 5000]]


def test_a_loop_that_was_dead_knows_what_was_created_meanwhile(pair: Server, clients: list[Client]) -> None:
    """Its members get it at their first heartbeat after the restart."""
    member = Member(clients[1], 1, "restart", ["meanwhile"])
    os.kill(pair.loop_pids()[1], signal.SIGKILL)
    topic_id = create_topic(clients[0], "meanwhile", 2).topic_id

    with Client(pair.addresses[1]) as again:
        member.client = again
        eventually(partial(_is_loaded, again, member.group_id))
        assert member.beat() == {topic_id: [0, 1]}


def _has(member: Member, topic_ids: set[bytes]) -> bool:
    return member.beat().keys() == topic_ids


def _is_loaded(client: Client, group_id: str) -> bool:
    request = ConsumerGroupHeartbeatRequest(group_id, "nobody", 1)
    return client.ask(request, 1, ConsumerGroupHeartbeatResponse).error_code == ErrorCode.UNKNOWN_MEMBER_ID
