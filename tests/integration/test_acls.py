"""A server with an authorizer: what clients with certificates may do."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from protocol.acl_codes import Operation, PatternType, Permission, ResourceType
from protocol.api import APIS
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.support.api_requests import request_of
from tests.support.client import response_type
from tests.support.eventually import eventually
from tests.support.guarded import DENIALS, Guarded
from tests.support.response_fields import field_values
from tests.support.simple_requests import commit_alone, must_commit, topic_of

# Everybody may ask; the answers have nothing that one may not see.
OPEN: Final = {"ApiVersions", "DescribeCluster", "ListGroups", "ListTransactions", "SaslAuthenticate", "SaslHandshake"}
FIRST_BY_ID: Final = {"Fetch": 13, "Produce": 13, "OffsetCommit": 10, "OffsetFetch": 10}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with Guarded(tmp_path_factory.mktemp("acls")) as started:
        yield started


def name_by_id(request: Any, topic_id: bytes) -> None:
    """Let a request name an existing topic, where it names one by id."""
    if isinstance(request, list):
        for each in request:
            name_by_id(each, topic_id)
    elif isinstance(request, msgspec.Struct):
        for name in request.__struct_fields__:
            if name == "topic_id":
                request.topic_id = topic_id  # type: ignore[attr-defined]  # it has the field
            name_by_id(getattr(request, name), topic_id)


def test_without_any_entry_nothing_is_allowed(server: Guarded) -> None:
    """Each API at each version says so, in the form of that version, and never with an answer that cannot be encoded."""
    with server.client("admin") as admin:
        topic_id = topic_of(admin, "t").topic_id
    with server.client("mallory") as client:
        for api in APIS.values():
            for version in api.versions if api.name not in OPEN else ():
                request = request_of(api.name, version)
                if version >= FIRST_BY_ID.get(api.name, 99):
                    name_by_id(request, topic_id)
                answer = client.ask(request, version, response_type(type(request)))
                errors = set(field_values(answer))
                assert errors & DENIALS, (api.name, version, answer)
                assert errors <= DENIALS | {0}, (api.name, version, answer)


def test_denials_are_in_the_audit_log(server: Guarded) -> None:
    """Of what a request names. What lists leave out is no denial."""
    lines: list[str] = []

    def is_told() -> bool:
        # Of many denials in a second, some have no line.
        client.ask(DescribeGroupsRequest(["a", "b"]), 5, DescribeGroupsResponse)
        lines.extend(line for line in server.log().splitlines() if "request-denied" in line and "User:snoop" in line)
        return bool(lines)

    with server.client("snoop") as client:
        client.ask(ListGroupsRequest(), 5, ListGroupsResponse)
        client.ask(MetadataRequest(None), 12, MetadataResponse)
        eventually(is_told)

    assert all(text in lines[0] for text in ("DescribeGroups", "Group:a", "Group:b", "127.0.0.1"))


def test_lists_have_what_one_may_describe(server: Guarded) -> None:
    """Topics and groups that one may not describe are not in them, and look as if they did not exist where they are named."""
    server.allow("lister", Operation.DESCRIBE, ResourceType.TOPIC, "ord", pattern_type=PatternType.PREFIXED)
    server.allow("lister", Operation.READ, ResourceType.GROUP, "seen")
    with server.client("admin") as admin:
        must_commit(admin, "seen", "orders", {0: 1})
        must_commit(admin, "unseen", "orders", {0: 1})

    with server.client("lister") as client:
        topics = client.ask(MetadataRequest(None), 12, MetadataResponse)
        named = client.ask(
            MetadataRequest([MetadataRequestTopic(name=name) for name in ("orders", "secrets", "none")]), 12, MetadataResponse
        )
        groups = client.ask(ListGroupsRequest(), 5, ListGroupsResponse)

    denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert [topic.name for topic in topics.topics] == ["orders"]
    assert {topic.name: topic.error_code for topic in named.topics} == {"orders": 0, "secrets": denied, "none": denied}
    assert [group.group_id for group in groups.groups] == ["seen"]


def test_the_log_is_not_fetched_without_the_right_to_read_it(server: Guarded) -> None:
    """The internal topics disclose every group."""
    server.allow("reader", Operation.READ, ResourceType.TOPIC, "orders")
    asked = FetchRequest(topics=[FetchTopic(name, partitions=[FetchPartition(0)]) for name in ("__consumer_offsets", "orders")])

    def errors(name: str) -> dict[str, int]:
        with server.client(name) as client:
            answer = client.ask(asked, 12, FetchResponse)
        return {topic.topic: topic.partitions[0].error_code for topic in answer.responses}

    denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert errors("reader") == {"__consumer_offsets": denied, "orders": 0}
    assert errors("admin") == {"__consumer_offsets": 0, "orders": 0}


def test_a_member_is_refused_as_soon_as_its_entry_is_removed(server: Guarded) -> None:
    """Also if its heartbeats were answered with what was kept."""
    server.allow("member", Operation.READ, ResourceType.GROUP, "mine")
    with server.client("member") as client:
        asked = JoinGroupRequest("mine", 60_000, 60_000, "", None, "consumer", [JoinGroupRequestProtocol("range", b"")])
        joined = client.ask(asked, 3, JoinGroupResponse)
        given = SyncGroupRequestAssignment(joined.member_id, b"")
        client.ask(SyncGroupRequest("mine", joined.generation_id, joined.member_id, assignments=[given]), 3, SyncGroupResponse)
        beat = HeartbeatRequest("mine", joined.generation_id, joined.member_id)
        before = [client.ask(beat, 4, HeartbeatResponse).error_code for _ in range(4)]
        assert server.revoke("member") == 1
        after = client.ask(beat, 4, HeartbeatResponse).error_code

    assert before == [0, 0, 0, 0]
    assert after == ErrorCode.GROUP_AUTHORIZATION_FAILED


def test_a_commit_that_repeats_is_refused_as_soon_as_its_entry_is_removed(server: Guarded) -> None:
    """What is kept of the last commit of a connection does not outlive the entries."""
    server.allow("committer", Operation.READ, ResourceType.GROUP, "kept")
    server.allow("committer", Operation.READ, ResourceType.TOPIC, "orders")
    with server.client("committer") as client:
        before = [commit_alone(client, "kept", "orders", {0: offset})[0] for offset in range(6)]
        server.revoke("committer")
        server.allow("committer", Operation.READ, ResourceType.GROUP, "kept")
        after = commit_alone(client, "kept", "orders", {0: 6})[0]

    assert before == [0] * 6
    assert after == ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_a_fetch_that_repeats_is_refused_as_soon_as_its_entry_is_removed(server: Guarded) -> None:
    """What is kept of the last fetch of a connection, and of its answer, does not outlive the entries."""
    server.allow("fetcher", Operation.DESCRIBE, ResourceType.GROUP, "kept")
    server.allow("fetcher", Operation.DESCRIBE, ResourceType.TOPIC, "orders")
    with server.client("admin") as admin:
        must_commit(admin, "kept", "orders", {0: 1})
    asked = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup("kept", topics=[OffsetFetchRequestTopics("orders", partition_indexes=[0])])]
    )

    def fetched() -> tuple[int, list[tuple[int, int]]]:
        [group] = client.ask(asked, 9, OffsetFetchResponse).groups
        return group.error_code, [(one.committed_offset, one.error_code) for topic in group.topics for one in topic.partitions]

    with server.client("fetcher") as client:
        before = [fetched() for _ in range(4)]
        server.revoke("fetcher")
        without_group = fetched()
        server.allow("fetcher", Operation.DESCRIBE, ResourceType.GROUP, "kept")
        without_topic = fetched()

    assert before == [(0, [(1, 0)])] * 4
    assert without_group == (ErrorCode.GROUP_AUTHORIZATION_FAILED, [])
    assert without_topic == (0, [(-1, ErrorCode.TOPIC_AUTHORIZATION_FAILED)])


def test_entries_are_described_as_they_were_created(server: Guarded) -> None:
    server.allow("described", Operation.READ, ResourceType.GROUP, "a", pattern_type=PatternType.PREFIXED)
    server.allow("described", Operation.READ, ResourceType.GROUP, "a", pattern_type=PatternType.PREFIXED)

    with server.client("admin") as admin:
        found = admin.ask(DescribeAclsRequest(1, None, 1, "User:described", None, 1, 1), 3, DescribeAclsResponse)

    [resource] = found.resources
    [acl] = resource.acls
    assert (resource.resource_type, resource.resource_name, resource.pattern_type) == (
        ResourceType.GROUP,
        "a",
        PatternType.PREFIXED,
    )
    assert (acl.principal, acl.host, acl.operation, acl.permission_type) == (
        "User:described",
        "*",
        Operation.READ,
        Permission.ALLOW,
    )


def test_entries_hold_on_all_loops_and_after_a_restart(tmp_path: Path) -> None:
    """The answer to a change waits for all loops."""
    with Guarded(tmp_path, 2) as server:
        server.allow("alice", Operation.DESCRIBE, ResourceType.TOPIC, "orders", loop=1)
        for _ in range(2):
            for loop in range(2):
                with server.client("alice", loop) as client:
                    answer = client.ask(MetadataRequest(None), 12, MetadataResponse)
                assert [topic.name for topic in answer.topics] == ["orders"]
            server.stop()
            server.start()
        server.revoke("alice")
        for loop in range(2):
            with server.client("alice", loop) as client:
                assert client.ask(MetadataRequest(None), 12, MetadataResponse).topics == []


@pytest.mark.parametrize("wakes_up", [True, False])
def test_a_loop_that_is_frozen_serves_no_entry_that_was_revoked(tmp_path: Path, wakes_up: bool) -> None:
    """The change is answered when the loop has gone on and knows it, or when it was killed: never while it may wake up."""
    with Guarded(tmp_path, 2, {"loops.hung.after.ms": 60_000 if wakes_up else 500}) as server, ThreadPoolExecutor() as threads:
        server.allow("alice", Operation.DESCRIBE, ResourceType.TOPIC, "orders")
        pid = server.loop_pids()[1]
        with server.client("alice", 1) as client:
            assert [topic.name for topic in client.ask(MetadataRequest(None), 12, MetadataResponse).topics] == ["orders"]
            os.kill(pid, signal.SIGSTOP)
            revoked = threads.submit(server.revoke, "alice")
            if wakes_up:
                # Longer than any time after which a loop was left behind.
                assert not wait([revoked], 2.5).done
                os.kill(pid, signal.SIGCONT)
                assert revoked.result(10) == 1
                assert client.ask(MetadataRequest(None), 12, MetadataResponse).topics == []
                assert server.loop_pids()[1] == pid
            else:
                assert revoked.result(10) == 1
                with pytest.raises(ProcessLookupError):
                    os.kill(pid, 0)
        with server.client("alice", 1) as client:
            assert client.ask(MetadataRequest(None), 12, MetadataResponse).topics == []


def test_topics_are_created_automatically_by_those_who_may_create_them(server: Guarded) -> None:
    """Also if they may see all topics."""
    server.allow("viewer", Operation.DESCRIBE, ResourceType.TOPIC, "auto", pattern_type=PatternType.PREFIXED)
    server.allow("viewer", Operation.CREATE, ResourceType.TOPIC, "auto-b")
    asked = MetadataRequest([MetadataRequestTopic(name=name) for name in ("auto-a", "auto-b")])

    with server.client("viewer") as client:
        created = client.ask(asked, 12, MetadataResponse)

    assert {topic.name: topic.error_code for topic in created.topics} == {
        "auto-a": ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        "auto-b": 0,
    }
    with server.client("admin") as admin:
        assert topic_of(admin, "auto-a", is_created=False).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_regular_expression_finds_what_its_member_may_describe(server: Guarded) -> None:
    server.allow("regex", Operation.READ, ResourceType.GROUP, "found")
    server.allow("regex", Operation.DESCRIBE, ResourceType.TOPIC, "orders")

    with server.client("regex") as client:
        beat = ConsumerGroupHeartbeatRequest("found", "a-member", 0, None, None, 60_000, None, "orders|secrets", None, [])
        epoch = client.ask(beat, 1, ConsumerGroupHeartbeatResponse).member_epoch
        assigned: list[int] = []

        def is_assigned() -> bool:
            nonlocal epoch
            again = ConsumerGroupHeartbeatRequest("found", "a-member", epoch, subscribed_topic_names=None, topic_partitions=None)
            answer = client.ask(again, 1, ConsumerGroupHeartbeatResponse)
            assert answer.error_code == 0
            epoch = answer.member_epoch
            if answer.assignment is not None:
                assigned.append(len(answer.assignment.topic_partitions))
            return epoch > 1 and bool(assigned)

        eventually(is_assigned)

    assert assigned[-1] == 1


def test_a_large_request_is_checked_in_steps_like_a_small_one(server: Guarded) -> None:
    """Its frame is decoded, and its answer encoded, beside the loop."""
    server.allow("many", Operation.DESCRIBE, ResourceType.GROUP, "even", pattern_type=PatternType.PREFIXED)
    groups = [f"{'even' if number % 2 == 0 else 'odd'}-{number}" for number in range(6_000)]

    with server.client("many") as client:
        answer = client.ask(DescribeGroupsRequest(groups, True), 5, DescribeGroupsResponse)

    errors = {group.group_id: group.error_code for group in answer.groups}
    denied = ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert errors == {name: 0 if name.startswith("even") else denied for name in groups}
    assert {group.authorized_operations for group in answer.groups if not group.error_code} == {1 << Operation.DESCRIBE}
