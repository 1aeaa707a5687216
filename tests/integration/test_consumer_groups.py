"""Consumer groups (KIP-848) over the wire: heartbeats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator_server.server.guard.authorized_operations import GROUP_OPERATIONS
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.server import Server
from tests.support.simple_requests import make_topic

Address = tuple[str, int]
GROUP_RESOURCE = 32


@pytest.mark.parametrize("version", [0, 1])
def test_a_member_joins_stays_and_leaves(address: Address, fresh_name: str, version: int) -> None:
    """It gets all partitions of its topic in epoch 2; a steady heartbeat has no assignment."""
    with Client(address) as client:
        make_topic(client, fresh_name, 3)
        join = ConsumerGroupHeartbeatRequest(fresh_name, "m", 0, None, None, 60_000, [fresh_name], None, None, [])
        joined = client.ask(join, version, ConsumerGroupHeartbeatResponse)
        steady = client.ask(ConsumerGroupHeartbeatRequest(fresh_name, "m", 2), version, ConsumerGroupHeartbeatResponse)
        left = client.ask(ConsumerGroupHeartbeatRequest(fresh_name, "m", -1), version, ConsumerGroupHeartbeatResponse)
        gone = client.ask(ConsumerGroupHeartbeatRequest(fresh_name, "m", 2), version, ConsumerGroupHeartbeatResponse)

    assert (joined.error_code, joined.member_id, joined.member_epoch, joined.heartbeat_interval_ms) == (0, "m", 2, 5000)
    assert joined.assignment is not None
    assert [topic.partitions for topic in joined.assignment.topic_partitions] == [[0, 1, 2]]
    assert (steady.error_code, steady.member_epoch, steady.assignment) == (0, 2, None)
    assert (left.error_code, left.member_epoch) == (0, -1)
    assert gone.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert gone.error_message == f"Member m is not a member of group {fresh_name}."


def test_two_members_as_others_see_them(address: Address, fresh_name: str) -> None:
    """One takes over a partition of the other.

    Described, listed; each commits and reads in its epoch, and with an older one what it kept.
    """
    with Client(address) as client:
        make_topic(client, fresh_name, 2)
        at_once = AlterConfigsResource(GROUP_RESOURCE, fresh_name, [AlterableConfig("consumer.assignment.interval.ms", 0, "0")])
        client.ask(IncrementalAlterConfigsRequest([at_once]), 1, IncrementalAlterConfigsResponse)
        beat(client, fresh_name, "a", 0, [fresh_name])
        describe = ConsumerGroupDescribeRequest([fresh_name], include_authorized_operations=True)
        commit(client, fresh_name, "a", 2, {0: 5, 1: 6})
        assert beat(client, fresh_name, "b", 0, [fresh_name]).member_epoch == 3
        kept = beat(client, fresh_name, "a", 2).assignment
        assert kept is not None
        [[number]] = [each.partitions for each in kept.topic_partitions]
        group = described(client, describe)
        assert (group.group_state, group.group_epoch, group.authorized_operations) == ("Reconciling", 3, GROUP_OPERATIONS)
        assert {each.member_id: parts(each.assignment) for each in group.members} == {"a": [0, 1], "b": []}
        assert {each.member_id: parts(each.target_assignment) for each in group.members} == {"a": [number], "b": [1 - number]}

        request = ConsumerGroupHeartbeatRequest(fresh_name, "a", 2, topic_partitions=kept.topic_partitions)
        assert client.ask(request, 1, ConsumerGroupHeartbeatResponse).member_epoch == 3
        assert commit(client, fresh_name, "a", 2, {number: 7}) == [ErrorCode.NONE]
        assert commit(client, fresh_name, "a", 2, {1 - number: 7}) == [ErrorCode.STALE_MEMBER_EPOCH]
        beat(client, fresh_name, "b", 3)
        assert commit(client, fresh_name, "b", 3, {1 - number: 8}) == [ErrorCode.NONE]
        listed = client.ask(ListGroupsRequest(["stable"], ["consumer"]), 5, ListGroupsResponse).groups
        assert [each.protocol_type for each in listed if each.group_id == fresh_name] == ["consumer"]
        for member_id, epoch, error in (
            ("a", 3, 0),
            ("a", 2, ErrorCode.STALE_MEMBER_EPOCH),
            ("x", 3, ErrorCode.UNKNOWN_MEMBER_ID),
        ):
            asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(fresh_name, member_id, epoch, None)])
            [fetched] = client.ask(asked, 9, OffsetFetchResponse).groups
            assert fetched.error_code == error
            found = {one.partition_index: one.committed_offset for topic in fetched.topics for one in topic.partitions}
            assert found == ({} if error else {number: 7, 1 - number: 8})
        [refused] = client.ask(DeleteGroupsRequest([fresh_name]), 2, DeleteGroupsResponse).results
        assert refused.error_code == ErrorCode.NON_EMPTY_GROUP


def beat(
    client: Client, group_id: str, member_id: str, epoch: int, topics: list[str] | None = None
) -> ConsumerGroupHeartbeatResponse:
    """A heartbeat; with topics the member joins."""
    joins = topics is not None
    request = ConsumerGroupHeartbeatRequest(
        group_id, member_id, epoch, None, None, 60_000 if joins else -1, topics, None, None, [] if joins else None
    )
    answer = client.ask(request, 1, ConsumerGroupHeartbeatResponse)
    assert answer.error_code == ErrorCode.NONE, answer.error_message
    return answer


def described(client: Client, request: ConsumerGroupDescribeRequest) -> DescribedGroup:
    [group] = client.ask(request, 1, ConsumerGroupDescribeResponse).groups
    return group


def parts(assignment: Assignment) -> list[int]:
    return [number for topic in assignment.topic_partitions for number in topic.partitions]


def commit(client: Client, group_id: str, member_id: str, epoch: int, offsets: dict[int, int]) -> list[int]:
    """Commit offsets of the topic that has the group's name; the errors."""
    partitions = [OffsetCommitRequestPartition(number, offset) for number, offset in offsets.items()]
    topics = [OffsetCommitRequestTopic(group_id, partitions=partitions)]
    answer = client.ask(OffsetCommitRequest(group_id, epoch, member_id, topics=topics), 9, OffsetCommitResponse)
    return [one.error_code for topic in answer.topics for one in topic.partitions]


def test_replay_shows_topics_by_their_names(tmp_path: Path) -> None:
    """The records of a member have ids. Beside a server, and without one."""

    def assignments(*words: str) -> list[dict[str, list[int]]]:
        done = run_command("replay", "--json", *words, "--data-dir", server.data_dir)
        assert done.returncode == 0, done.stderr
        return [
            member["assignment"] for shard in json.loads(done.stdout) for group in shard["groups"] for member in group["members"]
        ]

    with Server(tmp_path, {"topics": "orders:3"}) as server:
        with Client(server.address) as client:
            assert beat(client, "g", "m", 0, ["orders"]).member_epoch == 2
        assert assignments() == [{"orders": [0, 1, 2]}]
        server.kill()
        assert assignments() == [{"orders": [0, 1, 2]}]
