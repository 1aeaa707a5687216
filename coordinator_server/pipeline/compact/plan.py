"""What a compaction has to do for a shard, and what the new layer's manifest says of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from coordinator_server.log.layers.layer import MANIFEST, FileEntry, Layer, file_entry, newest_valid_layer
from coordinator_server.pipeline.input.files import InputFile
from coordinator_server.pipeline.input.shards import segment_bases


class ShardPlan(Struct, frozen=True):
    """The compaction of one shard: all records before ``to_offset`` become one layer."""

    directory: str
    to_offset: int

    @property
    def shard(self) -> str:
        return Path(self.directory).name


def plan_shard(shard_dir: Path, sealed_to: int | None = None) -> ShardPlan | None:
    """Plan the compaction of a shard. Return None if no records were sealed since its newest layer.

    A running server may be sealing more segments: the plan ends at ``sealed_to``, the offset that it has confirmed.
    """
    bases = [base for base in segment_bases(shard_dir) if sealed_to is None or base <= sealed_to]
    newest = newest_valid_layer(shard_dir)
    if not bases or bases[-1] <= (newest.to_offset if newest is not None else 0):
        return None
    return ShardPlan(str(shard_dir), bases[-1])


def input_entries(layer: Layer | None, files: Sequence[InputFile]) -> list[FileEntry]:
    """Return the manifest's entries for the inputs of a layer. An older layer is one entry: its own manifest."""
    manifest = [file_entry(layer.path / MANIFEST, f"{layer.path.name}/{MANIFEST}")] if layer is not None else []
    return manifest + [file_entry(Path(file.path), Path(file.path).name) for file in files if file.is_dense]
