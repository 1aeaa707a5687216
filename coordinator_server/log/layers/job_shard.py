"""A shard in a directory, as jobs see it (``jobs.JobShard``). They find its files by their names.

A server may seal segments, publish layers and remove history meanwhile. The segment with the highest base offset is open. The
offsets in a segment have no gaps; those in a layer do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from coordinator_server.kinds import kind_of
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import SEGMENT_NAME, SHARD_NAME, layer_offsets, segment_bases, segment_path
from coordinator_server.log.jobs import FileEntry, InputFile, SavedFile, ShardInput
from coordinator_server.log.layers.attempt import LayerAttempt, clean_attempts, publish
from coordinator_server.log.layers.layer import MANIFEST, Layer, file_entry, layer_to_load, newest_valid_layer, open_layer
from coordinator_server.log.layers.saved_files import saved_files
from coordinator_server.log.storage import LOCAL


class LocalJobShard:
    """The shard in a directory."""

    __slots__ = ("_directory",)

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def name(self) -> str:
        """The name of the shard."""
        return self._directory.name

    @property
    def place(self) -> str:
        """The directory."""
        return str(self._directory)

    def exists(self) -> bool:
        """Return whether the directory exists."""
        return self._directory.is_dir()

    def sealed_to(self, upto: int | None = None) -> int:
        """Return the base of the open segment, or of the last one that is not after ``upto``."""
        return max((base for base in self._bases() if upto is None or base <= upto), default=0)

    def compacted_to(self) -> int:
        """Return the end of the newest valid layer; 0 without one."""
        layer = self.newest_layer()
        return 0 if layer is None else layer.to_offset

    def newest_layer(self) -> Layer | None:
        """Return the newest valid layer; None without one. Its files are not read."""
        return newest_valid_layer(self._directory)

    def compacted(self, upto: int) -> tuple[Layer | None, list[InputFile]]:
        """Return the newest intact layer and the segments after it. Raises DamagedLog, LogError."""
        bases = self._bases()
        layer = layer_to_load(self._directory, bases, upto=upto)
        return layer, self._from_layer_on(layer, bases, upto)

    def whole(self, upto: int) -> tuple[Layer | None, list[InputFile]]:
        """Return all segments there are, after the oldest layer that replaces removed ones. Raises DamagedLog."""
        bases = self._bases()
        layer = None if not bases or bases[0] == 0 else self._oldest_layer(bases[0], upto)
        return layer, self._from_layer_on(layer, bases, upto)

    def behind_loss(self, lost_to: int, upto: int) -> tuple[Layer | None, list[InputFile]] | None:
        """Return the oldest layer that ends at ``lost_to`` or later, and the segments after it; None without one."""
        try:
            layer = self._oldest_layer(lost_to, upto)
        except DamagedLog:
            return None
        return layer, self._from_layer_on(layer, self._bases(), upto)

    def since(self, position: int, upto: int) -> list[InputFile]:
        """Return the segments with offsets from ``position`` up to ``upto``, as far as they are kept."""
        return self._segments(self._bases(), position, upto)

    def saved(self, cut: int, known: Mapping[str, FileEntry], *, with_history: bool) -> Iterator[SavedFile]:
        """Yield the layers and segments before ``cut``, under the names that they have in the directory of the log."""
        return saved_files(self._directory, cut, known, with_history=with_history)

    def size(self, upto: int) -> int:
        """Estimate the bytes of ``compacted`` from names and sizes."""
        found = self._from_layer_on(newest_valid_layer(self._directory, upto), self._bases(), upto)
        return sum(Path(file.path).stat().st_size for file in found)

    def segment_sizes(self) -> dict[str, int]:
        """Return the sizes of all segments, by name."""
        found = {}
        for path in self._directory.iterdir():
            if SEGMENT_NAME.fullmatch(path.name):
                try:
                    found[path.name] = path.stat().st_size
                except FileNotFoundError:
                    continue
        return found

    def entries(self, source: ShardInput) -> list[FileEntry]:
        """Return the entries of segments by their names. An older layer is one entry: its own manifest."""
        layer, files = source
        manifest = [file_entry(layer.path / MANIFEST, f"{layer.path.name}/{MANIFEST}")] if isinstance(layer, Layer) else []
        return manifest + [file_entry(Path(file.path), Path(file.path).name) for file in files if file.is_dense]

    def new_layer(self, to_offset: int) -> LayerAttempt:
        """Begin a layer in a directory of its own."""
        return LayerAttempt(self._directory, to_offset)

    def publish(self, attempt: str, to_offset: int) -> bool:
        """Make a finished attempt the layer at ``to_offset`` by one rename."""
        return publish(Path(attempt), self._directory, to_offset)

    def clean_attempts(self) -> int:
        """Remove the attempts that writers left when they died."""
        return clean_attempts(self._directory)

    def _bases(self) -> list[int]:
        return segment_bases(LOCAL, str(self._directory))

    def _from_layer_on(self, layer: Layer | None, bases: Sequence[int], upto: int) -> list[InputFile]:
        """Return the files of a layer, then the segments after it that hold offsets before ``upto``."""
        start = layer.to_offset if layer is not None else 0
        found = [InputFile(str(path), 0, start, is_dense=False) for path in layer.files()] if layer is not None else []
        return found + self._segments(bases, start, upto)

    def _segments(self, bases: Sequence[int], start: int, upto: int) -> list[InputFile]:
        """Return the segments with offsets from ``start`` up to ``upto``. The one that is open is read up to there."""
        if start >= upto:
            return []
        found = [self._segment(base, start, end) for base, end in pairwise(bases) if base < upto and end > start]
        if bases and bases[-1] < upto:
            found.append(self._segment(bases[-1], start, upto, is_open=True))
        return found

    def _segment(self, base: int, from_offset: int, end: int, *, is_open: bool = False) -> InputFile:
        return InputFile(segment_path(self.place, base), from_offset, end, True, base, is_open)

    def _oldest_layer(self, first_base: int, upto: int) -> Layer:
        for to_offset in reversed(layer_offsets(self._directory)):
            if first_base <= to_offset <= upto:
                layer = open_layer(self._directory, to_offset)
                layer.verify()
                return layer
        raise DamagedLog(
            segment_path(self.place, first_base), 0, "records before this segment are missing, and no layer has them"
        )


def local_job_shards(data_dir: Path) -> list[LocalJobShard]:
    """Return the shards of known kinds, by topic and partition."""
    return [LocalJobShard(path) for path in _named_like_shards(data_dir) if kind_of(path.name) is not None]


def unknown_shards(data_dir: Path) -> list[str]:
    """Return the names of directories that are named like shards but belong to no known kind."""
    return [path.name for path in _named_like_shards(data_dir) if kind_of(path.name) is None]


def _named_like_shards(data_dir: Path) -> list[Path]:
    named = [(match, path) for path in data_dir.iterdir() if (match := SHARD_NAME.fullmatch(path.name)) and path.is_dir()]
    return [path for _, path in sorted(named, key=lambda item: (item[0][1], int(item[0][2])))]
