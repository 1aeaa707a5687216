"""The identity of a log shard, its owners, what is appended to one, and which of them belong to one loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class ShardId(NamedTuple):
    """A log shard; its directory is ``{topic}-{partition}``."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def shard_named(name: str) -> ShardId:
    """Return the shard of a name, which is also that of its directory. ValueError if it has no number."""
    topic, _, partition = name.rpartition("-")
    return ShardId(topic, int(partition))


class Ownership(NamedTuple):
    """A shard, and the epoch of one of its owners."""

    shard: ShardId
    epoch: int

    def __str__(self) -> str:
        return f"{self.shard} at epoch {self.epoch}"


class ShardEnd(NamedTuple):
    """How far a shard is durable in its segments: up to byte ``size`` of ``segment``, and up to ``offset``, which comes next."""

    shard: ShardId
    segment: int
    size: int
    offset: int


class LoopShards(NamedTuple):
    """One of several loops: its number, which is also its journal's, and which shards it owns."""

    loop: int
    owns: Callable[[ShardId], bool]


class Append(NamedTuple):
    """Whole record batches for one shard."""

    shard: ShardId
    epoch: int
    expected_offset: int
    data: bytes
