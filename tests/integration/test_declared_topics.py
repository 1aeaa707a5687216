"""The ``topics`` property over several starts of a server, with one loop and with two."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from tests.support.client import Client
from tests.support.server import Server

PATIENT_S = 60


def partitions(server: Server) -> dict[str | None, int]:
    with Client(server.address) as client:
        asked = [MetadataRequestTopic(name="orders"), MetadataRequestTopic(name="payments")]
        answer = client.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=False), 12, MetadataResponse)
    return {topic.name: len(topic.partitions) for topic in answer.topics}


@pytest.mark.parametrize("loops", [1, 2])
def test_more_partitions_grow_a_topic_and_fewer_are_refused(tmp_path: Path, loops: int) -> None:
    """With the exit code of wrong properties, so that systemd does not try again."""
    seen = []
    for topics in ("orders:2", "orders:5,payments", "orders,payments:4", "orders"):
        with Server(tmp_path, {"topics": topics, "num.partitions": 3}, loops=loops) as server:
            seen.append(partitions(server))
    ended = Server(tmp_path, {"topics": "orders:4"}, loops=loops).run_to_end(PATIENT_S)

    assert seen == [
        {"orders": 2, "payments": 0},
        {"orders": 5, "payments": 3},
        {"orders": 5, "payments": 4},
        {"orders": 5, "payments": 4},
    ]
    assert ended.returncode == 2
    assert "topics: orders has 5 partitions, which cannot be fewer: declare orders:5, or orders without a number" in ended.stderr


@pytest.mark.parametrize("loops", [1, 2])
def test_properties_of_another_directory_are_refused_with_their_exit_code(tmp_path: Path, loops: int) -> None:
    with Server(tmp_path, loops=loops):
        pass
    ended = Server(tmp_path, {"offsets.topic.num.partitions": 7}, loops=loops).run_to_end(PATIENT_S)

    assert ended.returncode == 2
    assert "was made with offsets.topic.num.partitions=50, not 7" in ended.stderr
