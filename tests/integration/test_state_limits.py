"""Limits of groups and topics, in a running server: clients get an error that they know, and the log a line a minute."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.support.client import Client
from tests.support.server import Server
from tests.support.simple_requests import create_topic


def join(member_id: str = "", size: int = 10) -> JoinGroupRequest:
    protocols = [JoinGroupRequestProtocol("range", bytes(size))]
    return JoinGroupRequest("group", 6000, 6000, member_id, None, "consumer", protocols)


def test_a_full_group_goes_on(tmp_path: Path) -> None:
    """Members that are refused do not disturb those that it has, however often they come."""
    with Server(tmp_path, {"message.max.bytes": 10_000}) as server, Client(server.address) as leader:
        joined = leader.ask(join(size=5000), 3, JoinGroupResponse)
        synced = SyncGroupRequest("group", joined.generation_id, joined.member_id)
        synced.assignments = [SyncGroupRequestAssignment(joined.member_id, b"all")]
        assert leader.ask(synced, 3, SyncGroupResponse).error_code == ErrorCode.NONE
        with Client(server.address) as client:
            for _ in range(50):
                assert client.ask(join(size=5000), 3, JoinGroupResponse).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
                assert client.ask(join(size=9000), 3, JoinGroupResponse).error_code == ErrorCode.INVALID_REQUEST

        assert leader.ask(synced, 3, SyncGroupResponse).assignment == b"all"
        log = server.log().splitlines()
        assert sum('"event": "group-full"' in line for line in log) == 1
        assert sum('"event": "member-refused"' in line for line in log) == 1


@pytest.mark.parametrize("loops", [1, 2])
def test_metadata_does_not_create_topics_without_end(loops: int, tmp_path: Path) -> None:
    """Those beyond the limit are unknown, as if they were not created automatically."""
    with Server(tmp_path, {"auto.create.topics.max": 5}, loops=loops) as server, Client(server.addresses[-1]) as client:
        for start in range(0, 40, 4):
            names = [f"t{number:02}" for number in range(start, start + 4)]
            answer = client.ask(MetadataRequest([MetadataRequestTopic(name=name) for name in names]), 9, MetadataResponse)
            errors = [topic.error_code for topic in answer.topics]
            created = max(0, min(4, 5 - start))
            assert errors == [ErrorCode.NONE] * created + [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * (4 - created)

        assert create_topic(client, "by-hand", 1).error_code == ErrorCode.NONE
        assert sum('"event": "catalog-full"' in line for line in server.log().splitlines()) == 1
