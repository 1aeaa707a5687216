"""Commands that ask a running server, run in this process: what they print, and groups for them to ask about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from coordinator_server.cli import main
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    Topology,
)
from tests.support.client import Client
from tests.support.eventually import eventually


class Printed(NamedTuple):
    """What a command has printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.out.splitlines()]


class Command:
    """Runs commands against one server."""

    def __init__(self, bootstrap: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._bootstrap = bootstrap
        self._capsys = capsys

    def __call__(self, *words: str) -> Printed:
        code = main([*words, "--bootstrap", self._bootstrap])
        out, err = self._capsys.readouterr()
        return Printed(code, out, err)

    def rows(self, *words: str) -> Any:
        """The rows of an answer, of a command that succeeds."""
        done = self(*words, "-o", "json")
        assert done.code == 0, done.err
        return done.rows


def join_consumer(client: Client, group: str, member: str, topic: str, partitions: Sequence[int] = ()) -> int:
    """Become or stay a member of a group of the consumer protocol, until it has as many partitions as are given.

    Return its epoch.
    """
    epoch = 0
    owned: list[TopicPartitions] | None = None

    def beat() -> bool:
        nonlocal epoch, owned
        request = ConsumerGroupHeartbeatRequest(group, member, epoch, topic_partitions=owned)
        if epoch == 0:
            request.subscribed_topic_names, request.rebalance_timeout_ms, request.topic_partitions = [topic], 10_000, []
        answer = client.ask(request, 1, ConsumerGroupHeartbeatResponse)
        assert answer.error_code == ErrorCode.NONE, answer
        epoch = answer.member_epoch
        if answer.assignment is not None:
            owned = [TopicPartitions(each.topic_id, list(each.partitions)) for each in answer.assignment.topic_partitions]
        return sorted(number for each in owned or () for number in each.partitions) == sorted(partitions)

    eventually(beat)
    return epoch


def join_share(client: Client, group: str, member: str, topic: str) -> None:
    """Become a member of a share group that has an assignment."""
    epoch = 0

    def beat() -> bool:
        nonlocal epoch
        answer = client.ask(
            ShareGroupHeartbeatRequest(group, member, epoch, subscribed_topic_names=[topic] if epoch == 0 else None),
            1,
            ShareGroupHeartbeatResponse,
        )
        assert answer.error_code == ErrorCode.NONE, answer
        epoch = answer.member_epoch
        return answer.assignment is not None and bool(answer.assignment.topic_partitions)

    eventually(beat)


def join_streams(client: Client, group: str, member: str, topic: str) -> None:
    """Become a member of a streams group that has tasks."""
    settings = AlterConfigsResource(32, group, [AlterableConfig("streams.initial.rebalance.delay.ms", 0, "0")])
    client.ask(IncrementalAlterConfigsRequest([settings]), 1, IncrementalAlterConfigsResponse)
    request = StreamsGroupHeartbeatRequest(
        group,
        member,
        rebalance_timeout_ms=60_000,
        topology=Topology(0, [Subtopology("0", [topic])]),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id=member,
    )
    answer = client.ask(request, 0, StreamsGroupHeartbeatResponse)
    assert answer.active_tasks, answer
