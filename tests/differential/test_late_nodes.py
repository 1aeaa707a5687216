"""Where a port stands before nodes, a request may come to its node after one that was sent later over another connection."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from coordinator_server.kinds import GROUPS
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.join_group import JoinGroupRequest
from tests.differential.front import Front
from tests.differential.playing import Archive, Stage, play
from tests.differential.records import OFFSETS_PARTITIONS
from tests.differential.scripts import scripts_of
from tests.differential.servers import LIMITS, Life, Pair, prepared

_WITHIN_S = 10.0
_JOIN, _DESCRIBE = (struct.pack(">h", kind.kafka.key) for kind in (JoinGroupRequest, DescribeGroupsRequest))


class _Overtaken(Front):
    """A JoinGroup comes to the node when a DescribeGroups that was sent after it has been answered."""

    def _asked(self, links: dict[int, socket.socket], node: int, frame: bytes) -> bytes:
        if frame.startswith(_JOIN):
            self.described.clear()
            assert self.described.wait(_WITHIN_S)
        answer = super()._asked(links, node, frame)
        if frame.startswith(_DESCRIBE):
            self.described.set()
        return answer

    described = Event()


@pytest.fixture
def overtaken(tmp_path: Path, archive: Archive) -> Iterator[Stage]:
    """One node, behind such a port."""
    with Pair(tmp_path) as pair:
        life = pair.start(LIMITS)
        front = _Overtaken({1: life.ours.address}, {f"{GROUPS.topic}-{shard}": 1 for shard in range(OFFSETS_PARTITIONS)})
        yield Stage(Life(prepared("ours", front.address, is_late=True), life.kafka), archive)
        front.close()


def test_a_group_is_looked_at_after_the_answer(overtaken: Stage) -> None:
    """A look before it sees what Kafka's look sees after it, where Kafka has made nothing: the difference would not show."""
    [script] = [each for each in scripts_of("errors") if each.title == "errors: a refused simple commit leaves nothing here"]

    play(script, overtaken)
