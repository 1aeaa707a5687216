"""Share groups (KIP-932) over the wire, in a server with two loops: ShareGroupHeartbeat, ShareGroupDescribe, and kill -9."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coordinator_server.server.guard.authorized_operations import GROUP_OPERATIONS
from protocol.error_codes import ErrorCode
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.share_group_describe import DescribedGroup, ShareGroupDescribeRequest, ShareGroupDescribeResponse
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import make_topic


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    properties = {"group.share.assignment.interval.ms": 0, "share.coordinator.state.topic.num.partitions": 8}
    with Server(tmp_path_factory.mktemp("share"), properties, loops=2) as server:
        yield server


def owner(server: Server, group_id: str) -> Client:
    """A connection to the loop that owns the group."""
    with Client((server.host, server.ports[0])) as client:
        request = FindCoordinatorRequest(coordinator_keys=[group_id])
        [found] = client.ask(request, 4, FindCoordinatorResponse).coordinators
    return Client((server.host, found.port))


def beat(client: Client, group_id: str, member_id: str, epoch: int, *names: str) -> ShareGroupHeartbeatResponse:
    request = ShareGroupHeartbeatRequest(group_id, member_id, epoch, None, list(names) or None)
    return client.ask(request, 1, ShareGroupHeartbeatResponse)


def partitions_of(answer: ShareGroupHeartbeatResponse) -> list[int]:
    topics = [] if answer.assignment is None else answer.assignment.topic_partitions
    return sorted(partition for topic in topics for partition in topic.partitions)


def assigned(client: Client, group_id: str, member_id: str, epoch: int, count: int) -> int:
    """Send heartbeats until the member has so many partitions; return its epoch."""

    def has_them() -> int:
        nonlocal epoch
        answer = beat(client, group_id, member_id, epoch, group_id)
        assert answer.error_code == ErrorCode.NONE, answer
        epoch = answer.member_epoch
        return epoch if len(partitions_of(answer)) == count else 0

    return eventually(has_them)


def described(client: Client, group_id: str) -> DescribedGroup:
    request = ShareGroupDescribeRequest([group_id], include_authorized_operations=True)
    [group] = client.ask(request, 1, ShareGroupDescribeResponse).groups
    return group


def test_members_share_partitions_and_survive_a_kill(server: Server, fresh_name: str) -> None:
    """Share partitions of both loops get a state, then a member gets them; a killed server knows both, and the member stays."""
    with Client((server.host, server.ports[0])) as first:
        make_topic(first, fresh_name, 20)
    with owner(server, fresh_name) as client:
        joined = beat(client, fresh_name, "m", 0, fresh_name)
        assert (joined.error_code, joined.member_epoch, joined.heartbeat_interval_ms) == (0, 2, 5000)
        epoch = assigned(client, fresh_name, "m", 2, 20)
        listed = client.ask(ListGroupsRequest(types_filter=["share"]), 5, ListGroupsResponse).groups
        group = described(client, fresh_name)
    [entry] = [each for each in listed if each.group_id == fresh_name]
    assert (entry.protocol_type, entry.group_state, entry.group_type) == ("share", "Stable", "share")
    assert (group.group_state, group.group_epoch, group.assignment_epoch, group.assignor_name) == (
        "Stable",
        epoch,
        epoch,
        "simple",
    )
    assert group.authorized_operations == GROUP_OPERATIONS
    [member] = group.members
    assert (member.member_id, member.member_epoch, member.subscribed_topic_names) == ("m", epoch, [fresh_name])

    server.kill()
    server.start()

    with owner(server, fresh_name) as client:
        eventually(lambda: described(client, fresh_name).error_code == ErrorCode.NONE)
        assert described(client, fresh_name) == group
        steady = beat(client, fresh_name, "m", epoch)
        assert (steady.error_code, steady.member_epoch, steady.assignment) == (0, epoch, None)
        assert beat(client, fresh_name, "m", -1).error_code == ErrorCode.NONE
        assert described(client, fresh_name).group_state == "Empty"


def test_a_kill_in_the_middle_leaves_nothing_uninitialized(server: Server, fresh_name: str) -> None:
    """Whatever of the messages to share partitions has arrived: after the start they are sent again."""
    with Client((server.host, server.ports[0])) as first:
        make_topic(first, fresh_name, 50)
    with owner(server, fresh_name) as client:
        joined = beat(client, fresh_name, "m", 0, fresh_name)
        server.kill()
    server.start()

    with owner(server, fresh_name) as client:
        eventually(lambda: described(client, fresh_name).error_code == ErrorCode.NONE)
        assigned(client, fresh_name, "m", joined.member_epoch, 50)


def test_share_group_heartbeats_that_are_refused(server: Server, fresh_name: str) -> None:
    with owner(server, fresh_name) as client:
        unknown = beat(client, fresh_name, "m", 1)
        invalid = beat(client, fresh_name, "m" * 37, 0, "t")
        nothing = described(client, fresh_name)
        [nameless] = client.ask(ShareGroupDescribeRequest([""]), 1, ShareGroupDescribeResponse).groups

    assert (unknown.error_code, unknown.error_message) == (ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {fresh_name} not found.")
    assert (invalid.error_code, invalid.error_message) == (ErrorCode.INVALID_REQUEST, None)
    assert (nothing.error_code, nothing.error_message) == (ErrorCode.GROUP_ID_NOT_FOUND, f"Group {fresh_name} not found.")
    assert nameless.error_code == ErrorCode.INVALID_GROUP_ID
