"""Check one shard: its layers, its checkpoint, and its segments from where history begins to the end."""

from __future__ import annotations

import os
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Final

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import layer_offsets, layer_path, marks_path, segment_bases, segment_path
from coordinator_server.log.layers.checkpoint import Checkpoint
from coordinator_server.log.layers.layer import MANIFEST, Layer, open_layer
from coordinator_server.log.repair.batch_scan import DamagedBytes, WholeBatch, scan_batches
from coordinator_server.log.repair.findings import Inspection
from coordinator_server.log.shards import ShardEnd, ShardId
from coordinator_server.log.write.segment_index import read_marks

_DAMAGED: Final = -1
_TRIES: Final = 5


class ShardCheck:
    """Checks the shards of one directory. The journal has entries of the shards ``journaled``."""

    def __init__(self, data_dir: str, inspection: Inspection, journaled: AbstractSet[ShardId]) -> None:
        self._data_dir = data_dir
        self._inspection = inspection
        self._storage = inspection.storage
        self._journaled = journaled

    def run(self, shard: ShardId, end: ShardEnd | None) -> None:
        """Check one shard. The journal's heads say that it is durable up to ``end``."""
        directory = f"{self._data_dir}/{shard}"
        layers = self._layers(shard, directory)
        for _ in range(_TRIES):
            found = len(self._inspection.report.damage)
            try:
                self._segments(shard, directory, end, max(layers, default=0))
            except FileNotFoundError:
                # Retention removed a segment that was about to be read.
                del self._inspection.report.damage[found:]
            else:
                break
        for name in sorted(os.listdir(directory)):
            if name.startswith("."):
                self._inspection.note(
                    f"{directory}/{name}", "left over from work that was not finished: whoever comes next removes it"
                )

    def _layers(self, shard: ShardId, directory: str) -> list[int]:
        """Check all layers. Return the ends of those that are intact."""
        path = Path(directory)
        whole = []
        for to_offset in layer_offsets(path, self._storage):
            try:
                layer = open_layer(path, to_offset, self._storage)
                layer.verify()
            except DamagedLog as damage:
                # Retention may have removed it meanwhile.
                if self._storage.exists(str(layer_path(path, to_offset))):
                    self._inspection.damaged(damage.path, damage.position, damage.why, "layer")
                continue
            self._layer(shard, layer)
            whole.append(to_offset)
        return whole

    def _layer(self, shard: ShardId, layer: Layer) -> None:
        """Check the content of an intact layer, and its checkpoint."""
        offset = 0
        for file in layer.files():
            for found in scan_batches(self._inspection.read(str(file)), offset, has_gaps=True):
                if isinstance(found, DamagedBytes):
                    self._inspection.damaged(str(file), found.position, found.why, "layer")
                else:
                    offset = found.header.next_offset
                    self._inspection.records(shard, str(file), found.position, found)
        if offset > layer.to_offset:
            self._inspection.damaged(str(layer.path), 0, f"records up to offset {offset} are in it", "layer")
        self._checkpoint(layer)
        for name in (MANIFEST, *(entry.name for entry in layer.manifest.checkpoint)):
            # A missing file, or a damaged name, was reported above.
            with suppress(OSError):
                self._inspection.read(str(layer.path / name))

    def _checkpoint(self, layer: Layer) -> None:
        if not layer.manifest.checkpoint:
            return
        try:
            checkpoint = Checkpoint(layer)
            try:
                checkpoint.verify()
            finally:
                checkpoint.close()
        except DamagedLog as damage:
            self._inspection.damaged(damage.path, damage.position, damage.why, "checkpoint")

    def _segments(self, shard: ShardId, directory: str, durable: ShardEnd | None, layer_to: int) -> None:
        bases = segment_bases(self._storage, directory)
        if bases and bases[0] > layer_to:
            why = f"offsets {layer_to} to {bases[0]} before it are missing"
            self._inspection.damaged(segment_path(directory, bases[0]), 0, why, "segment")
        for base, following in zip_longest(bases, bases[1:]):
            path = segment_path(directory, base)
            kind = "history" if following is not None and following <= layer_to else "segment"
            if following is None:
                data = self._inspection.read(path)
                self._last(shard, path, data, base, durable)
                continue
            end = self._sealed(shard, path, base, following, kind)
            if end not in (following, _DAMAGED):
                size = self._storage.size(path)
                self._inspection.damaged(path, size, f"offsets {end} to {following} after it are missing", kind)
            if self._storage.exists(marks_path(path)) and read_marks(self._storage, path) is None:
                self._inspection.note(
                    marks_path(path), "not the marks of the segment beside it: they are made anew when they are needed"
                )

    def _sealed(self, shard: ShardId, path: str, base: int, following: int, kind: str) -> int:
        """Check a sealed segment. Return the offset after its last batch, or _DAMAGED if its end is damaged."""
        end = base
        for found in scan_batches(self._inspection.read(path), base, following):
            if isinstance(found, DamagedBytes):
                end = _DAMAGED
                self._inspection.damaged(path, found.position, found.why, kind)
            else:
                end = found.header.next_offset
                self._inspection.records(shard, path, found.position, found)
        return end

    def _last(self, shard: ShardId, path: str, data: bytes, base: int, durable: ShardEnd | None) -> None:
        """Check the active segment.

        Only up to the durable end are errors damage: what follows is in the journal, or was never promised.
        """
        durable_size = durable.size if durable is not None and durable.segment == base else 0
        is_known = durable is not None or shard in self._journaled
        if len(data) < durable_size:
            self._inspection.damaged(path, len(data), f"the segment was durable up to byte {durable_size}", "segment")
        for found in scan_batches(data, base):
            if isinstance(found, WholeBatch):
                self._inspection.records(shard, path, found.position, found)
            elif found.position < durable_size or not (is_known or found.is_tail or self._inspection.report.is_served):
                self._inspection.damaged(path, found.position, found.why, "segment")
            elif not self._inspection.report.is_served:
                self._inspection.note(
                    path, f"from byte {found.position} on, {found.why}: the next start has it from the journal, or cuts it off"
                )
