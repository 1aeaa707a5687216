"""What a compaction has to do for a shard."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from coordinator_server.log.jobs import JobShard


class ShardPlan(Struct, frozen=True):
    """The compaction of one shard: all records before ``to_offset`` become one layer."""

    directory: str
    to_offset: int

    @property
    def shard(self) -> str:
        return Path(self.directory).name


def plan_shard(shard: JobShard, sealed_to: int | None = None) -> ShardPlan | None:
    """Plan the compaction of a shard. Return None if no records were sealed since its newest layer.

    A running server may be sealing more segments: the plan ends at ``sealed_to``, the offset that it has confirmed.
    """
    end = shard.sealed_to(sealed_to)
    return ShardPlan(shard.place, end) if end > shard.compacted_to() else None
