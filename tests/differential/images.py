"""What the group coordinator of a broker knows of topics: a moment later than clients do, and each of its shards by itself.

Nothing tells it but groups. So a streams group of its own is made in each shard: it has as many tasks as its topic has partitions.
"""

from __future__ import annotations

from itertools import count
from typing import Final

from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, Subtopology, Topology
from tests.differential.records import OFFSETS_PARTITIONS, offsets_partition
from tests.differential.wire import Connection

_MEMBER: Final = "probe"
_NUMBERS: Final = count()
_TIMEOUT_MS: Final = 60_000


def partitions_known(control: Connection, topic: str) -> set[int]:
    """Return how many partitions the shards know of a topic; 0 if one does not know it."""
    return {_partitions_known(control, group_id, topic) for group_id in _new_groups()}


def _partitions_known(control: Connection, group_id: str, topic: str) -> int:
    topology = Topology(0, [Subtopology("0", [topic])])
    request = StreamsGroupHeartbeatRequest(group_id, _MEMBER, 0, 0, None, None, _TIMEOUT_MS, topology, [], [], [], _MEMBER)
    answer = control.ask(request, 0)
    assert answer["errorCode"] == ErrorCode.NONE, answer
    control.ask(StreamsGroupHeartbeatRequest(group_id, _MEMBER, -1), 0)
    control.ask(DeleteGroupsRequest([group_id]), 2)
    return sum(len(each["partitions"]) for each in answer["activeTasks"])


def _new_groups() -> list[str]:
    """Return a group id for each shard, which nobody else uses."""
    number, found = next(_NUMBERS), dict[int, str]()
    for suffix in count():
        group_id = f"probe-{number}-{suffix}"
        found.setdefault(offsets_partition(group_id), group_id)
        if len(found) == OFFSETS_PARTITIONS:
            break
    return list(found.values())
