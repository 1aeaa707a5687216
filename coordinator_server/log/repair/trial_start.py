"""Try what a start does with a recovered directory: open each shard's layer, and read the segments after it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import segment_path
from coordinator_server.log.layers.checkpoint import Checkpoint
from coordinator_server.log.layers.layer import Layer, layer_to_load, layer_with_checkpoint
from coordinator_server.log.read.segment_reader import Span, read_spans
from coordinator_server.log.repair.recovery import Recovered
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import Storage
from coordinator_server.log.write.segments import Segments


def shards_that_do_not_load(storage: Storage, data_dir: str, recovered: Recovered) -> dict[ShardId, DamagedLog]:
    """Return the damage that a start finds in each shard."""
    found = {}
    for shard, state in recovered.shards.items():
        try:
            _load(storage, f"{data_dir}/{shard}", state)
        except DamagedLog as damage:
            found[shard] = damage
    return found


def _load(storage: Storage, directory: str, state: Segments) -> None:
    bases, size, end = state
    layer = _with_whole_checkpoint(storage, directory, bases) or layer_to_load(Path(directory), bases, storage=storage)
    start = layer.to_offset if layer is not None else 0
    spans = []
    for base, stop in zip(bases, [*bases[1:], end], strict=bool(bases)):
        if stop > start:
            path = segment_path(directory, base)
            spans.append(Span(path, base, 0, size if base == bases[-1] else storage.size(path)))
    if spans and spans[0].offset > start:
        raise DamagedLog(spans[0].path, 0, f"offsets {start} to {spans[0].offset} before it are missing")
    for _ in read_spans(storage, spans, start):
        pass


def _with_whole_checkpoint(storage: Storage, directory: str, bases: list[int]) -> Layer | None:
    """Return the layer with which a start needs no records of layers."""
    layer = layer_with_checkpoint(Path(directory), bases, storage)
    if layer is not None:
        with suppress(DamagedLog):
            Checkpoint(layer).close()
            return layer
    return None
