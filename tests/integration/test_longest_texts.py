"""Texts of every length that a request may have: each request gets an answer,
and no text that was accepted breaks a later answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coordinator_server.server.apis.table import ROWS
from protocol.api import APIS
from protocol.error_codes import ErrorCode
from protocol.errors import EncodeError
from protocol.fields import Message
from protocol.messages.alter_configs import AlterableConfig as ReplacedConfig
from protocol.messages.alter_configs import AlterConfigsRequest
from protocol.messages.alter_configs import AlterConfigsResource as ReplacedResource
from protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.support.api_requests import request_of
from tests.support.client import Client
from tests.support.server import Server

MOST = 32_767
ID_SUFFIX = 37
TEXTS = ("x" * MOST, "ü" * (MOST // 2), "\N{SKULL}" * (MOST // 4), "\n" * MOST, "x" * 30_000, "topic", "")
SERVED = [APIS[row.request.kafka.key] for row in ROWS]
READS = ("DescribeGroups", "ListGroups", "OffsetFetch", "DescribeConfigs", "ListConfigResources", "Metadata", "FindCoordinator")
# Beside those of api_requests.py: with everything that can be quoted in an answer.
FULL = {
    "JoinGroup": JoinGroupRequest("g", 500, 500, protocol_type="consumer", protocols=[JoinGroupRequestProtocol("range", b"")]),
    "AlterConfigs": AlterConfigsRequest([ReplacedResource(kind, "7", [ReplacedConfig("a", "b")]) for kind in (2, 4, 8, 32)]),
    "IncrementalAlterConfigs": IncrementalAlterConfigsRequest(
        [AlterConfigsResource(kind, "7", [AlterableConfig("a", 2, "b")]) for kind in (2, 4, 8, 32)]
    ),
    "CreateTopics": CreateTopicsRequest(
        [CreatableTopic("t", 1, 1, configs=[CreatableTopicConfig("a", "b")])], validate_only=True
    ),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server"), {"topics": "t:2", "offset.metadata.max.bytes": 1 << 20}) as server:
        yield server


def stretched(value: Any, draw: Callable[[Any], Any]) -> Any:
    """The same with some of its texts replaced, and with more elements."""
    if isinstance(value, str):
        return draw(st.sampled_from((value, *TEXTS)))
    if isinstance(value, list):
        return [stretched(each, draw) for each in value for _ in range(draw(st.integers(1, 3)))]
    if isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
        return msgspec.structs.replace(value, **{name: stretched(getattr(value, name), draw) for name in names})
    return value


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_request_is_answered(server: Server, data: st.DataObject) -> None:
    """Whatever it quotes, at every version; a client id may be as long as any text."""
    api = data.draw(st.sampled_from(SERVED))
    version = data.draw(st.sampled_from(list(api.versions)))
    request = stretched(FULL.get(api.name, request_of(api.name, version)), data.draw)
    with Client(server.address, client_id=data.draw(st.sampled_from(TEXTS))) as client:
        try:
            client.call(request, version)
        except EncodeError:
            return  # This version has no such field.
        look_at_all(client, getattr(request, "group_id", "g"))


def look_at_all(client: Client, group_id: str) -> None:
    """What was kept can be read at every version."""
    for name in READS:
        api = next(api for api in SERVED if api.name == name)
        for version in api.versions:
            client.call(with_group(request_of(name, version), group_id), version)


def with_group(request: Message, group_id: str) -> Message:
    """The request about that group, if it names one."""
    if isinstance(request, DescribeGroupsRequest):
        return DescribeGroupsRequest([group_id])
    if isinstance(request, OffsetFetchRequest) and request.groups:
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id)])
    return msgspec.structs.replace(request, group_id=group_id) if isinstance(request, OffsetFetchRequest) else request


@pytest.mark.parametrize("version", [0, 3, 4, 5, 9])
@pytest.mark.parametrize("is_static", [False, True])
def test_a_member_whose_id_would_be_too_long_does_not_come_to_be(server: Server, version: int, is_static: bool) -> None:
    """INVALID_REQUEST, and neither group nor pending member; one byte less, and every member gets its answer."""
    if is_static and version < 5:
        return
    for letter, over in itertools.product("xü", (1, 0)):
        group_id = f"ids-{version}-{is_static}-{letter}-{over}"
        size = MOST - ID_SUFFIX + over
        name = (letter * size).encode()[:size].decode(errors="ignore").ljust(size if letter == "x" else 0, "x")
        name += "x" * (size - len(name.encode()))
        with Client(server.address, client_id="short" if is_static else name) as client:
            request = join(group_id, instance_id=name if is_static else None, version=version)
            joined = client.ask(request, version, JoinGroupResponse)
            if over:
                assert joined.error_code == ErrorCode.INVALID_REQUEST
                assert describe(client, group_id) == "Dead"
                continue
            if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                assert len(joined.member_id.encode()) == MOST
                again = msgspec.structs.replace(request, member_id=joined.member_id)
                joined = client.ask(again, version, JoinGroupResponse)
            assert joined.error_code == ErrorCode.NONE
            assert [each.member_id for each in joined.members] == [joined.member_id]
            synced = SyncGroupRequest(group_id, joined.generation_id, joined.member_id)
            synced.assignments = [SyncGroupRequestAssignment(joined.member_id, b"all")]
            assert client.ask(synced, 3, SyncGroupResponse).assignment == b"all"
            look_at_all(client, group_id)


def test_a_leader_is_not_harmed_by_a_member_that_follows(server: Server) -> None:
    """A client id near the limit made the leader's answer, which lists all members, impossible to encode."""
    with Client(server.address) as leader, Client(server.address, client_id="x" * (MOST - 27)) as other:
        first = leader.ask(join("honest", version=3), 3, JoinGroupResponse)
        assert first.error_code == ErrorCode.NONE
        assert other.ask(join("honest", version=3), 3, JoinGroupResponse).error_code == ErrorCode.INVALID_REQUEST
        again = leader.ask(join("honest", version=3, member_id=first.member_id), 3, JoinGroupResponse)

        assert (again.error_code, len(again.members)) == (ErrorCode.NONE, 1)


def test_the_longest_of_everything_can_be_told(server: Server) -> None:
    """Names of groups and protocols, metadata, settings that grow by themselves: at every version of every answer that has them."""
    group_id, text = "g" * MOST, "x" * MOST
    with Client(server.address) as client:
        request = JoinGroupRequest(group_id, 500, 500, protocol_type=text, protocols=[JoinGroupRequestProtocol(text, b"")])
        joined = client.ask(request, 1, JoinGroupResponse)
        assert joined.error_code == ErrorCode.NONE
        client.call(SyncGroupRequest(group_id, joined.generation_id, joined.member_id), 1)
        look_at_all(client, group_id)
        position = OffsetCommitRequestPartition(0, 5, committed_metadata=text)
        client.call(OffsetCommitRequest("longest", topics=[OffsetCommitRequestTopic("t", partitions=[position])]), 2)
        look_at_all(client, "longest")
        name = "leader.replication.throttled.replicas"
        for number in range(3):
            value = ",".join(f"{1000 * number + each}:1" for each in range(4500))
            altered = IncrementalAlterConfigsRequest(
                [AlterConfigsResource(2, "t", [AlterableConfig(name, 2, value[: MOST - 9])])]
            )
            [answer] = client.ask(altered, 1, IncrementalAlterConfigsResponse).responses
            look_at_all(client, "longest")
        assert answer.error_code == ErrorCode.INVALID_CONFIG


def join(group_id: str, *, version: int, instance_id: str | None = None, member_id: str = "") -> JoinGroupRequest:
    protocols = [JoinGroupRequestProtocol("range", b"")]
    return JoinGroupRequest(group_id, 500, 500, member_id, instance_id, "consumer", protocols)


def describe(client: Client, group_id: str) -> str:
    [group] = client.ask(DescribeGroupsRequest([group_id]), 5, DescribeGroupsResponse).groups
    return group.group_state
