"""A shard in a database, as jobs see it (``jobs.JobShard``). Its rows are files of up to SEGMENT_BYTES, brought when they are read.

    /store:URL/SHARD/BASE-NEXT.log    the rows from offset BASE to NEXT, wherever they are. They never change
    /store:URL/SHARD/layer-TO/NAME    a file of a layer

All rows are sealed: a server adds more, and changes none. An attempt is written in this process's directory, and stored when it is
finished, so that any process can publish it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.file_names import layer_path, segment_name
from coordinator_server.log.jobs import FileEntry, InputFile, LayerSummary, SavedFile, ShardInput
from coordinator_server.log.layers.attempt import LayerAttempt
from coordinator_server.log.layers.layer import MANIFEST, Layer, file_entry, parse_manifest
from coordinator_server.log.layers.saved_files import saved_files
from coordinator_server.log.postgresql.job_log import JobLog
from coordinator_server.log.postgresql.layers import LAYERS_OF, StoredLayer, missing_layer
from coordinator_server.log.postgresql.rows import ROW_PARTS, ROW_WITH, SHARD_ROW
from coordinator_server.log.postgresql.segments import SEGMENTS, read_kept
from coordinator_server.log.postgresql.upkeep import attempts_of
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import LOCAL, discard_tree

SEGMENT_BYTES: Final = 64 << 20
_BORDER: Final = """
SELECT greatest((SELECT max(base_offset) FROM log WHERE sid = $1 AND base_offset <= $2),
  (SELECT max(base_offset) FROM segment WHERE sid = $1 AND base_offset <= $2 AND NOT is_removed))"""
_SEGMENT: Final = re.compile(r"(\d{20})-(\d{20})\.log")
_LAYER_FILE: Final = re.compile(r"layer-(\d{20})/(.+)")
_ATTEMPTS: Final = ".layer-attempt-"


class PostgresqlJobShard:
    """A shard of a log in a database."""

    __slots__ = ("_directory", "_log", "_shard", "_sid")

    def __init__(self, log: JobLog, shard: ShardId) -> None:
        self._log = log
        self._shard = shard
        self._sid = log.sids.get(shard, -1)
        self._directory = log.scratch / str(shard)

    @property
    def name(self) -> str:
        """The name of the shard."""
        return str(self._shard)

    @property
    def place(self) -> str:
        """The path of the shard."""
        return str(self._log.path / self.name)

    def exists(self) -> bool:
        """Return whether it has records."""
        return self._row()[1] > 0

    def sealed_to(self, upto: int | None = None) -> int:
        """Return the end of the shard, or where the last row begins that is not after ``upto``."""
        end = self._row()[1]
        if upto is None or upto >= end:
            return end
        [(found,)] = self._log.reader.read(_BORDER, self._sid, upto)
        return 0 if found is None else int(found)

    def compacted_to(self) -> int:
        """Return the end of the newest layer; 0 without one."""
        return max((stored.to_offset for stored in self._layers()), default=0)

    def newest_layer(self) -> Layer | None:
        """Return the newest intact layer; None without one."""
        for stored in self._layers():
            try:
                return self._log.copy_layer(self._shard, stored)
            except DamagedLog:
                continue
        return None

    def compacted(self, upto: int) -> ShardInput:
        """Return the newest intact layer, and the rows after it. Raises DamagedLog, LogError."""
        start, _ = self._row()
        damage: DamagedLog | None = None
        stored = self._layers()
        for each in stored:
            if start <= each.to_offset <= upto:
                try:
                    return self._from_layer_on(self._log.copy_layer(self._shard, each), upto)
                except DamagedLog as error:
                    damage = damage or error
        if not start:
            return self._from_layer_on(None, upto)
        if damage is not None:
            raise damage
        first = min((each.to_offset for each in stored if each.to_offset >= start), default=0)
        if upto < first:
            raise LogError(
                f"{self.name}: the records before offset {first} are kept compacted only: ask for that offset or a later one"
            )
        raise missing_layer(self._shard, start)

    def whole(self, upto: int) -> ShardInput:
        """Return all rows there are, after the oldest layer that replaces removed ones. Raises DamagedLog."""
        start, _ = self._row()
        return self._from_layer_on(self._oldest_layer(start, upto) if start else None, upto)

    def behind_loss(self, lost_to: int, upto: int) -> ShardInput | None:
        """Return the oldest layer that ends at ``lost_to`` or later, and the rows after it; None without one."""
        try:
            return self._from_layer_on(self._oldest_layer(lost_to, upto), upto)
        except DamagedLog:
            return None

    def since(self, position: int, upto: int) -> list[InputFile]:
        """Return the rows with offsets from ``position`` up to ``upto``, as far as they are kept."""
        return self._segments(max(position, self._row()[0]), upto, position)

    def saved(self, cut: int, known: Mapping[str, FileEntry], *, with_history: bool) -> Iterator[SavedFile]:
        """Yield the layers and rows before ``cut``, as files of a log in a directory."""
        start, _ = self._row()
        layers = [stored for stored in self._layers() if start <= stored.to_offset <= cut]
        for stored in layers if with_history else layers[:1]:
            self._log.copy_layer(self._shard, stored)
        begin = layers[0].to_offset if layers and not with_history else start
        for file in self._segments(begin, cut, begin):
            brought = self.bring(Path(file.path).name)
            brought.rename(self._directory / segment_name(file.begin))
        try:
            yield from saved_files(self._directory, cut, known, with_history=with_history)
        finally:
            discard_tree(LOCAL, str(self._directory))

    def size(self, upto: int) -> int:
        """Estimate the bytes of ``compacted`` from the sizes of rows, and the manifest of the newest layer."""
        found = next((stored for stored in self._layers() if stored.to_offset <= upto), None)
        records = 0
        if found is not None:
            records = sum(entry.size for entry in parse_manifest(found.manifest, self._directory, found.to_offset).files)
        return records + sum(size for _, _, size in self._parts(found.to_offset if found is not None else 0, upto))

    def segment_sizes(self) -> dict[str, int]:
        """Return the sizes of all rows, by the files that they are read as. They are named for their beginning."""
        start, end = self._row()
        return {segment_name(base): size for base, _, size in self._parts(start, end)}

    def entries(self, source: ShardInput) -> list[FileEntry]:
        """Return the entries of files of rows by their names. An older layer is one entry: its own manifest."""
        layer, files = source
        manifest = [file_entry(layer.path / MANIFEST, f"{layer.path.name}/{MANIFEST}")] if isinstance(layer, Layer) else []
        return manifest + [
            file_entry(self.bring(name), name) for name in (Path(file.path).name for file in files if file.is_dense)
        ]

    def new_layer(self, to_offset: int) -> LayerAttempt:
        """Begin a layer in a directory of its own, which is stored when it is finished."""
        self._directory.mkdir(exist_ok=True)
        return _StoredAttempt(self._directory, to_offset, self._store)

    def publish(self, attempt: str, to_offset: int) -> bool:
        """Make a stored attempt the layer at ``to_offset``, by one statement, under the claim of this process."""
        return self._log.upkeep.publish(self._sid, to_offset, self._attempt(Path(attempt)))

    def clean_attempts(self) -> int:
        """Remove the attempts that were not published, under the claim of this process."""
        for each in self._directory.glob(f"{_ATTEMPTS}*"):
            discard_tree(LOCAL, str(each))
        return self._log.upkeep.clean(self._sid)

    def bring(self, name: str) -> Path:
        """Return a copy of one of the files that ``InputFile`` names. Raises DamagedLog, LogError, OSError."""
        if found := _LAYER_FILE.fullmatch(name):
            stored = next((each for each in self._layers() if each.to_offset == int(found[1])), None)
            if stored is None:
                raise FileNotFoundError(f"{self.place}/{name}: the layer was removed meanwhile")
            return self._log.copy_layer(self._shard, stored).path / found[2]
        target = self._directory / name
        if not target.exists():
            base, end = self._range(name)
            self._directory.mkdir(exist_ok=True)
            part = target.with_suffix(f".part-{os.getpid()}")
            try:
                with part.open("wb") as file:
                    for row in read_kept(self._log.reader, self._log.segments, self._shard, self._sid, base, end):
                        file.write(row.data)
            except DamagedLog as error:
                if self._row()[0] <= base:
                    raise
                raise FileNotFoundError(f"{self.place}/{name}: these rows were removed meanwhile") from error
            part.rename(target)
        return target

    def bytes_of(self, name: str) -> int:
        """Return the size of one of the files that ``InputFile`` names, without bringing it if it has rows."""
        if _SEGMENT.fullmatch(name) and not (self._directory / name).exists():
            return sum(size for _, _, size in self._parts(*self._range(name)))
        return self.bring(name).stat().st_size

    def _range(self, name: str) -> tuple[int, int]:
        found = _SEGMENT.fullmatch(name)
        if found is None:
            raise ValueError(f"{name} is no file of a shard in a database")
        return int(found[1]), int(found[2])

    def _row(self) -> tuple[int, int]:
        """Return where the kept history begins, and the end of the shard."""
        for _, _, start, end in self._log.reader.read(SHARD_ROW, self._sid):
            return start, end
        return 0, 0

    def _layers(self) -> list[StoredLayer]:
        """Return the published layers, the newest first."""
        return [StoredLayer(*found) for found in self._log.reader.read(LAYERS_OF, self._sid)]

    def _oldest_layer(self, from_offset: int, upto: int) -> Layer:
        for stored in reversed(self._layers()):
            if from_offset <= stored.to_offset <= upto:
                return self._log.copy_layer(self._shard, stored)
        raise missing_layer(self._shard, from_offset)

    def _from_layer_on(self, layer: Layer | None, upto: int) -> tuple[Layer | None, list[InputFile]]:
        begin = layer.to_offset if layer is not None else 0
        found = []
        if layer is not None:
            place = layer_path(Path(self.place), begin)
            found = [InputFile(str(place / path.name), 0, begin, is_dense=False) for path in layer.files()]
        return layer, found + self._segments(begin, upto, begin)

    def _segments(self, begin: int, upto: int, from_offset: int) -> list[InputFile]:
        """Return the rows with offsets from ``begin`` up to ``upto``, as files that are read from ``from_offset`` on."""
        return [
            InputFile(f"{self.place}/{base:020d}-{end:020d}.log", from_offset, min(end, upto), True, base, is_open=end > upto)
            for base, end, _ in self._parts(begin, upto)
        ]

    def _parts(self, begin: int, upto: int) -> list[tuple[int, int, int]]:
        """Return beginning, end and bytes of the files that rows are read as, from the row that holds ``begin``."""
        if begin >= upto:
            return []
        [(first,)] = self._log.reader.read(ROW_WITH, self._sid, begin)
        rows = self._log.reader.read(ROW_PARTS, self._sid, begin if first is None else first, upto, SEGMENT_BYTES)
        # After the rows: what was moved meanwhile is in both.
        moved = self._log.reader.read(SEGMENTS, self._sid, begin, rows[0][0] if rows else upto)
        segments = [(base, end, size) for base, end, size, *_ in moved if not rows or end <= rows[0][0]]
        return segments + [(base, end, size) for base, end, size in rows]

    def _attempt(self, path: Path) -> str:
        return attempts_of(self._sid) + path.name.removeprefix(_ATTEMPTS)

    def _store(self, path: Path, names: Sequence[str]) -> None:
        self._log.upkeep.store(self._attempt(path), [path / name for name in names])


class _StoredAttempt(LayerAttempt):
    """An attempt whose files go to the database, or to its object store, when it is finished."""

    def __init__(self, shard_dir: Path, to_offset: int, store: Callable[[Path, Sequence[str]], None]) -> None:
        super().__init__(shard_dir, to_offset)
        self._store = store

    def finish(self, summary: LayerSummary, inputs: Sequence[FileEntry]) -> Path:
        path = super().finish(summary, inputs)
        self._store(path, [entry.name for entry in (*self.entries, *self.checkpoint)] + [MANIFEST])
        return path
