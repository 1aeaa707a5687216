"""Streams groups (KIP-1071) over the wire: StreamsGroupHeartbeat, StreamsGroupDescribe, and the topics that they make."""

from __future__ import annotations

from coordinator_server.server.guard.authorized_operations import GROUP_OPERATIONS
from protocol.error_codes import ErrorCode
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from protocol.messages.streams_group_describe import StreamsGroupDescribeRequest, StreamsGroupDescribeResponse
from protocol.messages.streams_group_heartbeat import (
    KeyValue,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TopicInfo,
    Topology,
)
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.simple_requests import make_topic

GROUP, TOPIC = 32, 2


def configure(client: Client, group_id: str, name: str, value: str) -> None:
    resource = AlterConfigsResource(GROUP, group_id, [AlterableConfig(name, 0, value)])
    [answer] = client.ask(IncrementalAlterConfigsRequest([resource]), 1, IncrementalAlterConfigsResponse).responses
    assert answer.error_code == ErrorCode.NONE, answer


def topology(name: str, **changelog: object) -> Topology:
    """One subtopology that reads the topic ``name``, and has a store."""
    settings = [KeyValue(key, str(value)) for key, value in changelog.items()]
    return Topology(0, [Subtopology("0", [name], state_changelog_topics=[TopicInfo(f"{name}-store-changelog", 0, 0, settings)])])


def join(client: Client, group_id: str, wanted: Topology) -> StreamsGroupHeartbeatResponse:
    request = StreamsGroupHeartbeatRequest(
        group_id,
        "m",
        rebalance_timeout_ms=60_000,
        topology=wanted,
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id="p",
    )
    return client.ask(request, 0, StreamsGroupHeartbeatResponse)


def beat(client: Client, group_id: str, epoch: int) -> StreamsGroupHeartbeatResponse:
    answer = client.ask(StreamsGroupHeartbeatRequest(group_id, "m", epoch), 0, StreamsGroupHeartbeatResponse)
    assert answer.error_code == ErrorCode.NONE, answer
    return answer


def test_a_member_gets_tasks_when_its_topics_are_made(client: Client, fresh_name: str) -> None:
    """Its changelog topic has the partitions of its source, and the settings that the topology says."""
    make_topic(client, fresh_name, 3)
    configure(client, fresh_name, "streams.initial.rebalance.delay.ms", "0")
    configure(client, fresh_name, "streams.assignment.interval.ms", "0")
    changelog = f"{fresh_name}-store-changelog"
    joined = join(client, fresh_name, topology(fresh_name, **{"cleanup.policy": "compact"}))
    assert (joined.error_code, [each.status_detail for each in joined.status or ()]) == (
        0,
        [f"Internal topics are missing: {changelog}"],
    )
    epoch = joined.member_epoch

    def tasks() -> list[int]:
        nonlocal epoch
        answer = beat(client, fresh_name, epoch)
        epoch = answer.member_epoch
        return [partition for each in answer.active_tasks or () for partition in each.partitions]

    assert eventually(tasks) == [0, 1, 2]
    asked = MetadataRequest([MetadataRequestTopic(name=changelog)], False)
    [made] = client.ask(asked, 12, MetadataResponse).topics
    described = DescribeConfigsRequest([DescribeConfigsResource(TOPIC, changelog, ["cleanup.policy"])])
    [settings] = client.ask(described, 4, DescribeConfigsResponse).results
    assert (len(made.partitions), settings.configs[0].value) == (3, "compact")

    request = StreamsGroupDescribeRequest([fresh_name], include_authorized_operations=True)
    [group] = client.ask(request, 0, StreamsGroupDescribeResponse).groups
    listed = client.ask(ListGroupsRequest(["stable"], ["streams"]), 5, ListGroupsResponse).groups
    assert (group.group_state, group.group_epoch, group.members[0].client_host) == ("Stable", epoch, "/127.0.0.1")
    assert group.authorized_operations == GROUP_OPERATIONS
    assert [each.group_type for each in listed if each.group_id == fresh_name] == ["streams"]
    assert beat(client, fresh_name, epoch).status == []


def test_a_topic_that_cannot_be_made_is_told(client: Client, fresh_name: str) -> None:
    """With the reason, from the next heartbeat on."""
    make_topic(client, fresh_name, 1)
    configure(client, fresh_name, "streams.initial.rebalance.delay.ms", "0")
    joined = join(client, fresh_name, topology(fresh_name, **{"cleanup.policy": "nonsense"}))

    def detail() -> str:
        [status] = beat(client, fresh_name, joined.member_epoch).status or []
        return status.status_detail if "Creation failed" in status.status_detail else ""

    assert f"; Creation failed: {fresh_name}-store-changelog (" in eventually(detail)
