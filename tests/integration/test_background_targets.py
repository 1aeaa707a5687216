"""Target assignments that a child process of the daemon computes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.processes import descendants
from tests.support.server import Server
from tests.support.simple_requests import make_topic

OVERRIDES = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.assignment.inline.max.size": "0",
    "message.max.bytes": "4096",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("background-targets"), OVERRIDES) as server:
        yield server


def beat(
    client: Client, group_id: str, member_id: str, epoch: int, topics: list[str] | None = None
) -> ConsumerGroupHeartbeatResponse:
    """A heartbeat; with topics the member joins."""
    joins = topics is not None
    request = ConsumerGroupHeartbeatRequest(
        group_id, member_id, epoch, None, None, 60_000 if joins else -1, topics, None, None, [] if joins else None
    )
    return client.ask(request, 1, ConsumerGroupHeartbeatResponse)


def child_of(server: Server) -> int | None:
    """The process of the executor."""
    return next(
        (pid for pid in descendants(server.pid) if b"cli.child\0executor" in Path(f"/proc/{pid}/cmdline").read_bytes()), None
    )


def test_heartbeats_go_on_while_the_child_is_stopped_and_after_it_was_killed(server: Server) -> None:
    """A target that is not there yet has the old one in its place. Who comes next computes it."""
    with Client(server.address) as client:
        make_topic(client, "t", 6)
        assert beat(client, "g", "a", 0, ["t"]).member_epoch == 1
        first = eventually(lambda: beat(client, "g", "a", 1).assignment)
        assert first is not None
        assert [each.partitions for each in first.topic_partitions] == [[0, 1, 2, 3, 4, 5]]

        child = child_of(server)
        assert child is not None
        os.kill(child, signal.SIGSTOP)
        assert beat(client, "g", "b", 0, ["t"]).member_epoch == 2
        for _ in range(5):
            assert beat(client, "g", "a", 2).member_epoch == 2
        os.kill(child, signal.SIGKILL)
        kept = eventually(lambda: beat(client, "g", "a", 2).assignment)
        assert kept is not None
        assert len(kept.topic_partitions[0].partitions) == 3


def test_a_target_that_fits_into_no_batch_is_refused(server: Server) -> None:
    topics = [f"large-{i}" for i in range(25)]
    with Client(server.address) as client:
        for topic in topics:
            make_topic(client, topic, 45)
        assert beat(client, "large", "a", 0, topics).error_code == ErrorCode.NONE
        eventually(lambda: beat(client, "large", "a", 1).error_code)
        refused = beat(client, "large", "a", 1)

    assert refused.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert refused.error_message == "The target assignment for epoch 2 of 1 members is larger than message.max.bytes (4096)."
