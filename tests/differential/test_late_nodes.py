"""Nodes are later than one server: requests overtake each other before them, records take long, and catalogs lag after a load."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import pytest

from coordinator_server.kinds import GROUPS
from protocol.codec import encode
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.join_group import JoinGroupRequest
from tests.differential.front import Front
from tests.differential.playing import Archive, Stage, play
from tests.differential.records import OFFSETS_PARTITIONS
from tests.differential.scripts import scripts_of
from tests.differential.servers import LIMITS, Life, Pair, prepared

NOTHING = "errors: a refused simple commit leaves nothing here"
"""Kafka makes a group where it says that it refuses a member, and does not show it: a look that comes early sees the same here."""
_WITHIN_S = 10.0
_JOIN, _DESCRIBE, _BEAT = (
    struct.pack(">h", kind.kafka.key) for kind in (JoinGroupRequest, DescribeGroupsRequest, ConsumerGroupHeartbeatRequest)
)
Open = Callable[[type[Front], Mapping[str, object]], Stage]


class _Overtaken(Front):
    """A JoinGroup comes to the node when a DescribeGroups that was sent after it has been answered."""

    described = Event()

    def _asked(self, links: dict[int, socket.socket], node: int, frame: bytes) -> bytes:
        if frame.startswith(_JOIN):
            self.described.clear()
            assert self.described.wait(_WITHIN_S)
        answer = super()._asked(links, node, frame)
        if frame.startswith(_DESCRIBE):
            self.described.set()
        return answer


class _Loading(Front):
    """The first heartbeat of a consumer is refused."""

    has_refused = False

    def _asked(self, links: dict[int, socket.socket], node: int, frame: bytes) -> bytes:
        if not frame.startswith(_BEAT) or self.has_refused:
            return super()._asked(links, node, frame)
        self.has_refused = True
        [version] = struct.unpack_from(">h", frame, 2)
        refused = ConsumerGroupHeartbeatResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return frame[4:8] + b"\0" + bytes(encode(refused, version))


@pytest.fixture
def late(tmp_path: Path, archive: Archive) -> Iterator[Open]:
    """One node, behind such a port, with these properties."""
    with ExitStack() as opened:

        def open_stage(kind: type[Front], properties: Mapping[str, object]) -> Stage:
            life = opened.enter_context(Pair(tmp_path)).start({**LIMITS, **properties})
            front = kind({1: life.ours.address}, {f"{GROUPS.topic}-{shard}": 1 for shard in range(OFFSETS_PARTITIONS)})
            opened.callback(front.close)
            return Stage(Life(prepared("ours", front.address, is_late=True), life.kafka), archive)

        yield open_stage


@pytest.mark.parametrize(
    ("front", "properties"),
    [(_Overtaken, {}), (Front, {"group.coordinator.append.linger.ms": 200})],
    ids=["overtaken", "slow"],
)
def test_a_group_is_looked_at_when_what_was_asked_is_durable(
    late: Open, front: type[Front], properties: Mapping[str, object]
) -> None:
    """A look before that sees what Kafka's look sees after it, and the listed difference would not show."""
    [script] = [each for each in scripts_of("errors") if each.title == NOTHING]

    play(script, late(front, properties))


def test_a_node_that_loads_is_asked_again(late: Open) -> None:
    """As clients do."""
    script = next(each for each in scripts_of("consumer_joining") if " beat " in each.lines[0])

    play(script, late(_Loading, {}))
