"""A server answers from the moment it listens: about groups that are not loaded yet, that its client has to ask again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.api_versions import ApiVersionsRequest
from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.find_coordinator import FindCoordinatorRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest
from protocol.messages.leave_group import LeaveGroupRequest
from protocol.messages.list_groups import ListGroupsRequest
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from protocol.messages.sync_group import SyncGroupRequest
from tests.support.client import Client
from tests.support.loading import SHARDS, launch_slowly, loading
from tests.support.members import form_group
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed
from tests.support.strace import needs_strace

# One of the shard that is loaded last, and one of those that are loaded first.
LAST = next(f"group-{n}" for n in range(10_000) if partition_for(f"group-{n}", SHARDS) == SHARDS - 1)
FIRST = next(f"group-{n}" for n in range(10_000) if partition_for(f"group-{n}", SHARDS) == 0)
LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def commit_to(group_id: str, partition: int) -> OffsetCommitRequest:
    topic = OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(partition, 5)])
    return OffsetCommitRequest(group_id, topics=[topic])


# A request, its version, and whether an answer is the one to expect.
ASKED: list[tuple[Message, int, Callable[[Any], bool]]] = [
    (ApiVersionsRequest(), 0, lambda answer: answer.error_code == ErrorCode.NONE),
    (MetadataRequest([MetadataRequestTopic(name="orders")]), 7, lambda answer: len(answer.topics[0].partitions) == 6),
    (FindCoordinatorRequest(coordinator_keys=[LAST]), 4, lambda answer: answer.coordinators[0].error_code == ErrorCode.NONE),
    (commit_to(FIRST, 1), 8, lambda answer: answer.topics[0].partitions[0].error_code == ErrorCode.NONE),
    (commit_to(LAST, 1), 8, lambda answer: answer.topics[0].partitions[0].error_code == LOADING),
    (
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(LAST, topics=None)]),
        8,
        lambda answer: answer.groups[0].error_code == LOADING,
    ),
    (
        DescribeGroupsRequest([FIRST, LAST]),
        5,
        lambda answer: [each.error_code for each in answer.groups] == [ErrorCode.NONE, LOADING],
    ),
    (ListGroupsRequest(), 4, lambda answer: answer.error_code == LOADING),
    (DeleteGroupsRequest([LAST]), 2, lambda answer: answer.results[0].error_code == LOADING),
    (JoinGroupRequest(LAST, 10_000, 10_000, protocol_type="consumer"), 5, lambda answer: answer.error_code == LOADING),
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """With something in every shard."""
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        with Client(server.address) as client:
            for number in range(400):
                assert commit_alone(client, f"group-{number}", "orders", {0: number}) == {0: ErrorCode.NONE}
        yield server


@needs_strace
def test_who_asks_while_a_group_loads_is_told_so(server: Server) -> None:
    """Each API in its own way; what needs no group is answered, and groups that are there are served."""
    [member] = form_group(server.address, LAST, 1)
    assert server.stop() == 0

    with loading(server), Client(server.address) as client:
        # All at once, since each turn of the loop is a slow one.
        for request, version, _ in ASKED:
            client.send(request, version)
        for request, version in (
            (SyncGroupRequest(LAST, member.generation_id, member.member_id), 2),
            (LeaveGroupRequest(LAST, member.member_id), 2),
            (HeartbeatRequest(LAST, member.generation_id, member.member_id), 3),
        ):
            client.send(request, version)
        for request, _, expected in ASKED:
            assert expected(client.receive()), type(request).__name__
        told = [getattr(client.receive(), "error_code") for _ in range(3)]  # noqa: B009 - responses of three types
        # As in Kafka: a member that heartbeats would give itself up.
        assert told == [LOADING, LOADING, ErrorCode.NONE]

        shards = server.control(op="shards")["shards"]
        assert shards["__consumer_offsets-0"]["state"] == "active"
        assert shards[f"__consumer_offsets-{SHARDS - 1}"] == {"state": "loading", "records_loaded": 0}
        assert "still being loaded" in server.control(op="seal")["error"]

    member.reconnect()
    assert member.heartbeat() == ErrorCode.NONE
    with Client(server.address) as client:
        assert committed(client, LAST) == {("orders", 0): int(LAST.removeprefix("group-"))}
        assert committed(client, FIRST)["orders", 1] == 5
    assert {each["state"] for each in server.control(op="shards")["shards"].values()} == {"active"}


@needs_strace
def test_a_server_that_loads_can_be_stopped(server: Server) -> None:
    """SIGTERM does not wait for the load; the next start has everything."""
    assert server.stop() == 0
    loaded = server.log().count('"loaded"')

    launch_slowly(server)

    assert server.stop() == 0
    assert server.log().count('"loaded"') == loaded
    server.start()
    with Client(server.address) as client:
        assert [committed(client, f"group-{number}")["orders", 0] for number in range(400)] == list(range(400))
