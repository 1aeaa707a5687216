"""The share coordinator over sockets, in a server with two loops: InitializeShareGroupState, ReadShareGroupState,
WriteShareGroupState, DeleteShareGroupState and ReadShareGroupStateSummary, in all versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from protocol.error_codes import ErrorCode
from protocol.fields import Message, uuid_text
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.share_state import (
    TopicIdPartition,
    batches_of,
    deletion,
    errors_of,
    initialization,
    reading,
    results_of,
    summarizing,
    writing,
)
from tests.support.simple_requests import make_topic, topic_of

NONE, INVALID, ELSEWHERE = ErrorCode.NONE, ErrorCode.INVALID_REQUEST, ErrorCode.NOT_COORDINATOR
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
PARTITIONS = 12


class Cluster:
    """The server, a connection to each loop, and the loop that owns each share partition of a group."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.clients = [Client((server.host, port)) for port in server.ports]

    def close(self) -> None:
        for client in self.clients:
            client.close()

    def owners(self, group: str, where: list[TopicIdPartition]) -> dict[TopicIdPartition, int]:
        """As FindCoordinator says."""
        keys = [f"{group}:{uuid_text(topic)}:{partition}" for topic, partition in where]
        answer = self.clients[0].ask(FindCoordinatorRequest(key_type=2, coordinator_keys=keys), 6, FindCoordinatorResponse)
        assert [each.error_code for each in answer.coordinators] == [NONE] * len(keys)
        return {one: self.server.ports.index(each.port) for one, each in zip(where, answer.coordinators, strict=True)}

    def ask(self, request: Message, version: int = 0) -> dict[TopicIdPartition, Message]:
        """Ask both loops. Each knows what the other does not; no share partition is answered by none."""
        found: dict[TopicIdPartition, Message] = {}
        for client in self.clients:
            answers = results_of(client.call(request, version))
            found |= {where: each for where, each in answers.items() if each.error_code != ELSEWHERE}
        return found

    def errors(self, request: Message, version: int = 0) -> set[int]:
        return {each.error_code for each in self.ask(request, version).values()}  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    properties = {"topics": f"t:{PARTITIONS}", "share.coordinator.state.topic.num.partitions": 4}
    with Server(tmp_path_factory.mktemp("share"), properties, loops=2) as server:
        cluster = Cluster(server)
        yield cluster
        cluster.close()


@pytest.fixture
def where(cluster: Cluster) -> list[TopicIdPartition]:
    """All partitions of a topic. The shards are loaded: FindCoordinator has been asked."""
    topic_id = topic_of(cluster.clients[0], "t").topic_id
    where = [(topic_id, partition) for partition in range(PARTITIONS)]
    assert set(cluster.owners("any", where).values()) == {0, 1}
    eventually(lambda: cluster.errors(summarizing("any", where)) == {NONE})
    return where


def test_a_state_lives_from_its_initialization_to_its_deletion(cluster: Cluster, where: list[TopicIdPartition]) -> None:
    """One request is about share partitions of many shards."""
    for version in (0, 1):
        group = f"life-{version}"
        assert cluster.errors(reading(group, where)) == {INVALID}
        assert cluster.errors(initialization(group, where, start_offset=5)) == {NONE}
        assert cluster.errors(writing(group, where, (5, 9, 1, 0), (7, 7, 2, 2), delivery_complete_count=3), version) == {NONE}

        states = cluster.ask(reading(group, where, leader_epoch=4))
        assert states.keys() == set(where)
        for state in states.values():
            assert (state.state_epoch, state.start_offset) == (1, 5)  # type: ignore[attr-defined]
            assert batches_of(state) == [(5, 6, 1, 0), (7, 7, 2, 2), (8, 9, 1, 0)]  # type: ignore[arg-type]
        summaries = cluster.ask(summarizing(group, where), 1).values()
        told = {(each.leader_epoch, each.start_offset, each.delivery_complete_count) for each in summaries}  # type: ignore[attr-defined]
        assert told == {(4, 5, 3 if version else -1)}
        assert cluster.errors(deletion(group, where)) == {NONE}
        assert cluster.errors(reading(group, where)) == {INVALID}


def test_each_loop_answers_for_its_own_share_partitions(cluster: Cluster, where: list[TopicIdPartition]) -> None:
    """Those that FindCoordinator says are its."""
    owners = cluster.owners("mine", where)

    for loop, client in enumerate(cluster.clients):
        said = errors_of(client.call(initialization("mine", where), 0))
        assert said == {one: NONE if owner == loop else ELSEWHERE for one, owner in owners.items()}


def test_a_large_request_is_answered_once(cluster: Cluster, where: list[TopicIdPartition]) -> None:
    """In steps, and encoded beside the loop. What is named twice is done twice, and answered once."""
    topic_id = where[0][0]
    many = [(topic_id, partition) for partition in (*range(PARTITIONS), *range(100, 3_000))]

    said = cluster.ask(initialization("large", many * 2))
    assert {one: each.error_code for one, each in said.items()} == {  # type: ignore[attr-defined]
        one: NONE if one[1] < PARTITIONS else UNKNOWN for one in many
    }


def test_requests_about_nothing_have_an_empty_answer(cluster: Cluster, where: list[TopicIdPartition]) -> None:
    """Also if only one of the topics has no partitions, except when states are initialized."""
    client = cluster.clients[0]
    for request in (initialization("", where), reading("g", ()), writing("", where), deletion("g", ()), summarizing("", where)):
        assert results_of(client.call(request, 0)) == {}
    for request in (reading("g", where), writing("g", where), deletion("g", where), summarizing("g", where)):
        request.topics[1].partitions = []
        assert results_of(client.call(request, 0)) == {}
    started = initialization("g", where)
    started.topics[1].partitions = []
    assert len(results_of(client.call(started, 0))) == PARTITIONS - 1


def test_keys_that_are_no_share_partitions_have_no_coordinator(cluster: Cluster, where: list[TopicIdPartition]) -> None:
    """Each has its own error. Older versions of the request know no share partitions."""
    good = f"a:b:{uuid_text(where[0][0])}:3"
    keys = [good, "g", "g:t:0", f"g:{uuid_text(where[0][0])}:x", f" :{uuid_text(where[0][0])}:1"]
    client = cluster.clients[0]

    answer = client.ask(FindCoordinatorRequest(key_type=2, coordinator_keys=keys), 6, FindCoordinatorResponse)
    assert [each.error_code for each in answer.coordinators] == [NONE, *[INVALID] * 4]
    answer = client.ask(FindCoordinatorRequest(key_type=2, coordinator_keys=[good]), 5, FindCoordinatorResponse)
    assert [each.error_code for each in answer.coordinators] == [INVALID]
    assert client.ask(FindCoordinatorRequest(good, 2), 3, FindCoordinatorResponse).error_code == INVALID


def test_a_deleted_topic_takes_its_states_along(cluster: Cluster) -> None:
    """In the shards of both loops."""
    client = cluster.clients[0]
    topic_id = make_topic(client, "gone", 6)
    where = [(topic_id, partition) for partition in range(6)]
    assert cluster.errors(initialization("g", where)) == {NONE}
    before = len(shares(cluster.server))

    client.ask(DeleteTopicsRequest([DeleteTopicState("gone")]), 6, DeleteTopicsResponse)

    eventually(lambda: len(shares(cluster.server)) == before - 6)
    assert cluster.errors(deletion("g", where)) == {UNKNOWN}


def shares(server: Server) -> dict[str, str]:
    """The share partitions that have a state, with their digests."""
    shards = server.control(op="digest", parts=True)["shards"]
    return {key: part for name, shard in shards.items() if name.startswith("__share") for key, part in shard["parts"].items()}


def test_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    with Server(tmp_path, {"topics": "t:4"}) as server:
        with Client(server.address) as client:
            where = [(topic_of(client, "t").topic_id, partition) for partition in range(4)]
            finding = FindCoordinatorRequest(key_type=2, coordinator_keys=[f"g:{uuid_text(where[0][0])}:0"])
            eventually(lambda: client.ask(finding, 6, FindCoordinatorResponse).coordinators[0].error_code == NONE)
            eventually(lambda: set(errors_of(client.call(initialization("g", where), 0)).values()) == {NONE})
            assert set(errors_of(client.call(writing("g", where, (0, 4, 1, 0)), 1)).values()) == {NONE}
            before = shares(server)
        server.kill()
        server.start()

        assert shares(server) == before
        with Client(server.address) as client:
            answer = results_of(client.call(reading("g", where), 0))
            assert [batches_of(each) for each in answer.values()] == [[(0, 4, 1, 0)]] * 4
