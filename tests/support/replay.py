"""Batches of the groups' log, replayed."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.timeline import LATEST
from coordinator_server.pipeline.states.groups import GroupState
from coordinator_server.pipeline.states.state import replay_into


def replay_batches(batches: Iterable[bytes], upto: int = LATEST) -> GroupShard:
    """A new shard with the records of batches before ``upto``. Raises DecodeError."""
    return replay_into(GroupState(), batches, upto).shard
