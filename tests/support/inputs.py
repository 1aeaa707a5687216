"""Shards by their directories, for tests that write files themselves."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.log.file_names import segment_bases as bases_in
from coordinator_server.log.jobs import InputFile, ShardInput
from coordinator_server.log.layers.job_shard import LocalJobShard
from coordinator_server.log.layers.layer import Layer
from coordinator_server.log.opening import job_shard, job_shards
from coordinator_server.log.storage import LOCAL
from coordinator_server.pipeline.compact import plan
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.pipeline.input import files


def plan_shard(directory: Path, sealed_to: int | None = None) -> ShardPlan | None:
    return plan.plan_shard(job_shard(directory), sealed_to)


def compacted_input(directory: Path, upto: int) -> ShardInput:
    return job_shard(directory).compacted(upto)


def full_input(directory: Path, upto: int) -> ShardInput:
    return job_shard(directory).whole(upto)


def input_bytes(directory: Path, upto: int) -> int:
    return job_shard(directory).size(upto)


def offset_at(directory: Path, at_ms: int, upto: int) -> int:
    return files.offset_at(job_shard(directory), at_ms, upto)


def shard_directories(data_dir: Path) -> list[Path]:
    return [Path(shard.place) for shard in job_shards(data_dir)]


def segment_bases(directory: Path) -> list[int]:
    return bases_in(LOCAL, str(directory))


class SealedShard(LocalJobShard):
    """A shard of which only the sealed segments are read, whatever is asked for."""

    def whole(self, upto: int) -> tuple[Layer | None, list[InputFile]]:
        return super().whole(min(upto, self.sealed_to()))
