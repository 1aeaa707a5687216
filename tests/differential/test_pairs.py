"""Every pair of two coordinator requests in one segment: the answers are Kafka's, which handles one after the other.

Each pair has a group of its own with a committed offset: one with a member that has its assignment, or an empty one. What a
broker said is in tests/data/differential/pairs.json: ``make differential ARGS=--record`` asks it again, ``--live`` only compares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.list_groups import ListGroupsRequest
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.differential.playing import Archive, Stage
from tests.differential.transcripts import COMMAND, DIRECTORY
from tests.support.client import Client
from tests.support.server import Server
from tests.support.simple_requests import coordinator
from tests.support.strace import needs_strace, slowed_by

SAID: Final = DIRECTORY / "pairs.json"
TOPIC: Final = "pairs"
CLIENT_ID: Final = "pairing"
SYNC_MS: Final = 50
_MEMBER_ID: Final = re.compile(CLIENT_ID + r"-[0-9a-f-]{36}")


class Member(NamedTuple):
    """The only one of its group, in generation 1. An empty group has one without an id."""

    group: str
    id: str


def commit(member: Member, offset: int = 8) -> Message:
    topics = [OffsetCommitRequestTopic(TOPIC, partitions=[OffsetCommitRequestPartition(0, offset)])]
    return OffsetCommitRequest(member.group, 1 if member.id else -1, member.id, topics=topics)


def fetch(member: Member, *, is_stable: bool = False) -> Message:
    topics = [OffsetFetchRequestTopics(TOPIC, partition_indexes=[0])]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(member.group, topics=topics)], require_stable=is_stable)


def join(member: Member) -> JoinGroupRequest:
    return JoinGroupRequest(member.group, 60_000, 60_000, member.id, None, "consumer", [JoinGroupRequestProtocol("range", b"m")])


def sync(member: Member) -> Message:
    return SyncGroupRequest(member.group, 1, member.id, assignments=[SyncGroupRequestAssignment(member.id, b"all")])


# By name: the request and its version.
REQUESTS: Final[dict[str, tuple[Callable[[Member], Message], int]]] = {
    "commit": (commit, 8),
    "commit of nobody": (lambda member: commit(Member(member.group, ""), 9), 8),
    "fetch": (fetch, 8),
    "fetch stable": (lambda member: fetch(member, is_stable=True), 8),
    "delete offset": (
        lambda member: OffsetDeleteRequest(member.group, [OffsetDeleteRequestTopic(TOPIC, [OffsetDeleteRequestPartition(0)])]),
        0,
    ),
    "describe": (lambda member: DescribeGroupsRequest([member.group]), 5),
    "list": (lambda _member: ListGroupsRequest(), 4),
    "delete group": (lambda member: DeleteGroupsRequest([member.group]), 2),
    "heartbeat": (lambda member: HeartbeatRequest(member.group, 1, member.id), 3),
    "join": (join, 3),
    "sync": (sync, 3),
    "leave": (lambda member: LeaveGroupRequest(member.group, members=[MemberIdentity(member.id)]), 3),
}
OF_EMPTY: Final = ["commit", "fetch", "fetch stable", "delete offset", "describe", "list", "delete group", "join"]
EMPTY: Final = "empty: "
PAIRS: Final = [
    *(" + ".join(pair) for pair in product(REQUESTS, repeat=2)),
    # The second join of a group waits for the first member to join again.
    *(EMPTY + " + ".join(pair) for pair in product(OF_EMPTY, repeat=2) if pair != ("join", "join")),
]


def ask_pairs(address: tuple[str, int], prefix: str) -> dict[str, list[Any]]:
    """The answers to each pair. All groups at once: what takes long is a sync."""
    with ExitStack() as stack:
        control = stack.enter_context(Client(address, CLIENT_ID))
        control.call(CreateTopicsRequest([CreatableTopic(TOPIC, 1, 1)], 30_000), 5)
        coordinator(control, prefix)
        clients = {pair: stack.enter_context(Client(address, CLIENT_ID)) for pair in PAIRS}
        groups = {pair: f"{prefix}-{number}" for number, pair in enumerate(PAIRS)}
        members = {pair: Member(groups[pair], "") for pair in PAIRS}
        with_member = {pair: client for pair, client in clients.items() if not pair.startswith(EMPTY)}
        for pair, joined in _all(with_member, lambda pair: (join(members[pair]), 3)).items():
            members[pair] = Member(groups[pair], joined.member_id)
        _all(with_member, lambda pair: (sync(members[pair]), 3))
        committed = _all(clients, lambda pair: (commit(members[pair], 7), 8))
        assert {each.topics[0].partitions[0].error_code for each in committed.values()} == {ErrorCode.NONE}
        for pair, client in clients.items():
            asked = [REQUESTS[name] for name in pair.removeprefix(EMPTY).split(" + ")]
            client.send_bytes(b"".join([client.frame(build(members[pair]), version) for build, version in asked]))
        return {pair: [_told(client.receive(), groups[pair]) for _ in range(2)] for pair, client in clients.items()}


def _all(clients: dict[str, Client], request: Callable[[str], tuple[Message, int]]) -> dict[str, Any]:
    for pair, client in clients.items():
        client.send(*request(pair))
    return {pair: client.receive() for pair, client in clients.items()}


def _told(answer: Message, group: str) -> Any:
    """The answer as JSON, with names for what the server makes up, and without the groups of other pairs."""
    told = msgspec.to_builtins(answer)
    if "groups" in told:
        told["groups"] = [each for each in told["groups"] if each["group_id"] == group]
    return json.loads(_MEMBER_ID.sub("member", json.dumps(told, sort_keys=True)).replace(f'"{group}"', '"group"'))


@pytest.fixture(scope="module")
def said(stage: Stage, archive: Archive) -> Iterator[dict[str, list[Any]]]:
    """What a broker says to each pair."""
    if archive.is_live:
        answers = ask_pairs(stage.life.kafka().address, "pairs")
        if archive.is_recording:
            lines = [f"{json.dumps(pair)}: {json.dumps(answers[pair], sort_keys=True)}" for pair in PAIRS]
            SAID.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        yield answers
    else:
        yield json.loads(SAID.read_text())


def different(ours: dict[str, list[Any]], said: dict[str, list[Any]]) -> dict[str, Any]:
    assert said.keys() == ours.keys(), f"not all pairs are recorded: {COMMAND}"
    return {pair: {"here": ours[pair], "Kafka": said[pair]} for pair in PAIRS if ours[pair] != said[pair]}


def test_a_pair_in_one_segment_is_answered_as_by_kafka(stage: Stage, said: dict[str, list[Any]]) -> None:
    assert different(ask_pairs(stage.life.ours.address, "pairs"), said) == {}


@needs_strace
def test_pairs_of_requests_are_answered_alike_where_a_sync_takes_long(said: dict[str, list[Any]], tmp_path: Path) -> None:
    with Server(tmp_path, {"group.initial.rebalance.delay.ms": 0}) as quick:
        quick.stop()
        slow = Server(tmp_path, {"group.initial.rebalance.delay.ms": 0})
        slow.run_by = slowed_by("fdatasync", SYNC_MS, [], tmp_path / "syncs")
        with slow:
            assert different(ask_pairs(slow.address, "pairs"), said) == {}
    assert (tmp_path / "syncs").read_text().count("fdatasync") > 3
