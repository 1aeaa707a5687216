"""Every file of a data directory, read and checked, also beside a running server: what is damaged, where, what that means, what to do.

    meta.properties    parses, and is of a format that is known here
    journal/           heads, frames, entries; a server that stands still is started on a copy in memory (overlay.py)
    segments           every batch: checksum, offsets without a gap, records that parse, from where history begins to the end
    layers             the manifest, every file as it says, batches in order, records that parse
    marks              theirs is the segment beside them
    names              every log belongs to a topic and a partition that the server reads (kinds.py)

What a crash leaves is no damage: a torn end, a removal or an attempt that was not finished, marks that are not right. It is noted.
Beside a running server the end of the log moves: what is after the durable end is left to it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.kinds import KINDS
from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.file_names import (
    journal_dir,
    layer_offsets,
    layer_path,
    loops_of,
    marks_path,
    segment_bases,
    segment_path,
    shards_of,
)
from coordinator_server.log.layers.checkpoint import Checkpoint
from coordinator_server.log.layers.layer import MANIFEST, Layer, layer_to_load, open_layer
from coordinator_server.log.meta import FORMAT, IMPORTED, Meta, check_counted, read_meta
from coordinator_server.log.meta import NAME as META
from coordinator_server.log.repair.batch_scan import DamagedBytes, WholeBatch, scan_batches
from coordinator_server.log.repair.journal_reader import newest_ends, read_journal
from coordinator_server.log.repair.overlay import OverlayStorage, ReadOnlyStorage
from coordinator_server.log.repair.recovery import recover
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import LocalStorage, Storage, holder, read_file
from coordinator_server.log.write.frames import ShardEnd
from coordinator_server.log.write.journal import JournalContents
from coordinator_server.log.write.segment_index import read_marks
from coordinator_server.log.write.segments import end_of_batches
from protocol.errors import DecodeError
from protocol.record_batch import iter_records

Progress = Callable[[int, int], None]
"""Told how many bytes were read, of how many."""

_OTHERS: Final = frozenset({".lock", ".compact.lock", META, IMPORTED, "journal"})
_SOCKET: Final = ".sock"
_DAMAGED: Final = -1
_TRIES: Final = 5
_PAUSE_S: Final = 0.2

_SALVAGE: Final = "restore the file from a copy, or 'log verify --salvage OUT' makes a directory of all that is whole"
_COUNTS: Final = ", ".join(f"{kind.partitions}=" for kind in KINDS.values() if isinstance(kind.partitions, str))
_MEANS: Final = {
    "meta": (
        "what the directory holds cannot be told: the server does not start",
        f"restore the file: the lines version={FORMAT}, cluster.id=, node.id=, {_COUNTS} as they were, and none with a checksum",
    ),
    "journal": ("commits that were acknowledged may be gone: the server does not start", _SALVAGE),
    "segment": ("the records there cannot be read: the server does not start with this shard", _SALVAGE),
    "history": (
        "history is damaged there; a compacted layer stands for it: the server starts and its state is right",
        "nothing has to be done; a copy of the file brings the history back",
    ),
    "checkpoint": (
        "a start is slower: what is damaged is read from the layer's records",
        "compact again",
    ),
    "layer": (
        "the layer's records are not used; a start may still rest on its checkpoint",
        "move it away when there is an older layer or all segments, and compact again; else " + _SALVAGE,
    ),
    "record": (
        "the batch is as it was written, and what was written is no record that this server knows how to read",
        "use the version that wrote it; if that is this one, it is a bug: please report it",
    ),
    "unread": (
        "the server starts without these records",
        "move the directory away, or use the version that wrote it",
    ),
    "start": ("the server does not start", _SALVAGE),
}


class Finding(Struct, frozen=True):
    """One thing that is not as it should be; ``kind`` is a key of what it means."""

    path: str
    position: int
    why: str
    kind: str

    @property
    def means(self) -> str:
        return _MEANS[self.kind][0]

    @property
    def action(self) -> str:
        return _MEANS[self.kind][1]


class Note(Struct, frozen=True):
    """Something that needs nobody's attention."""

    path: str
    what: str


class Report(Struct):
    """What was read and what was found."""

    is_served: bool = False
    files: int = 0
    bytes: int = 0
    batches: int = 0
    records: int = 0
    damage: list[Finding] = []
    notes: list[Note] = []


def check(data_dir: str, progress: Progress = lambda _done, _all: None) -> Report:
    """Read everything. LogError for a directory that no server has made; OSError when something cannot be read at all."""
    if not os.path.isdir(data_dir) or not ({META, "journal"} & set(os.listdir(data_dir)) or shards_of(LocalStorage(), data_dir)):
        raise LogError(f"{data_dir} is no data directory of coordinator-server: check --data-dir")
    while True:
        report = _Check(data_dir, progress, is_served=is_served(data_dir)).run()
        # A server that was started or stopped meanwhile makes of a moving end something else.
        if report.is_served == is_served(data_dir) or not report.damage:
            return report


def is_served(data_dir: str) -> bool:
    """Whether a process holds the directory."""
    return holder(f"{data_dir}/.lock") is not None


class _Check:
    def __init__(self, data_dir: str, progress: Progress, *, is_served: bool) -> None:
        self.data_dir = data_dir
        self.report = Report(is_served)
        self.storage: Storage = ReadOnlyStorage()
        self._progress = progress
        self._entries: set[ShardId] = set()
        self._all_bytes = sum(size for _, size in _files(data_dir))

    def run(self) -> Report:
        meta = self._meta()
        ends = self._journals()
        directories = [shard for shard in shards_of(self.storage, self.data_dir) if os.path.isdir(f"{self.data_dir}/{shard}")]
        for shard in directories:
            self._shard(shard, ends.get(shard))
        for shard in sorted({*directories, *ends, *self._entries}):
            self._place(shard, meta, is_written=shard in ends or shard in self._entries)
        for name in sorted(os.listdir(self.data_dir)):
            if name not in _OTHERS and not name.endswith(_SOCKET) and not os.path.isdir(f"{self.data_dir}/{name}"):
                self._note(f"{self.data_dir}/{name}", "not a file of the log")
        if not self.report.is_served:
            self._try_start()
        return self.report

    def _meta(self) -> Meta | None:
        path = f"{self.data_dir}/{META}"
        try:
            meta = read_meta(self.storage, self.data_dir)
            self._read(path)
            check_counted(self.storage, self.data_dir, meta)
        except (LogError, OSError) as error:
            self._damaged(path, 0, str(error), "meta")
            return None
        return meta

    def _place(self, shard: ShardId, meta: Meta | None, *, is_written: bool) -> None:
        """Report a shard that no server here reads."""
        directory = f"{self.data_dir}/{shard}"
        count = meta.partitions.get(shard.topic) if meta is not None else None
        if shard.topic not in KINDS:
            why = f"{shard.topic} is not a topic of this server"
        elif count is not None and shard.partition >= count:
            why = f"{shard.topic} has {count} partitions, 0 to {count - 1}"
        else:
            return
        if is_written or segment_bases(self.storage, directory) or layer_offsets(Path(directory)):
            self._damaged(directory, 0, why, "unread")
        else:
            self._note(directory, f"{why}; it has no log files")

    # What was found.

    def _damaged(self, path: str, position: int, why: str, kind: str) -> None:
        self.report.damage.append(Finding(path, position, why, kind))

    def _note(self, path: str, what: str) -> None:
        self.report.notes.append(Note(path, what))

    def _read(self, path: str) -> bytes:
        data = read_file(self.storage, path)
        self.report.files += 1
        self.report.bytes += len(data)
        self._progress(self.report.bytes, self._all_bytes)
        return data

    # The journals.

    def _journals(self) -> dict[ShardId, ShardEnd]:
        """How far each shard is durable in its segments."""
        journals = [self._journal(journal_dir(self.data_dir, loop)) for loop in loops_of(self.storage, self.data_dir)]
        for found in journals:
            self._entries |= {entry.shard for entry in found.entries}
        return newest_ends(found.head for found in journals if found.head)

    def _journal(self, directory: str) -> JournalContents:
        tries = _TRIES if self.report.is_served else 1
        for left in range(tries - 1, -1, -1):
            try:
                found = read_journal(self.storage, directory)
                for entry in found.entries:
                    end_of_batches(entry.data, entry.offset)
            except (DamagedLog, ValueError, OSError) as error:
                # A file that the server begins to use again while it is read looks like anything.
                if left:
                    time.sleep(_PAUSE_S)
                    continue
                path, position = (error.path, error.position) if isinstance(error, DamagedLog) else (directory, 0)
                self._damaged(path, position, error.why if isinstance(error, DamagedLog) else str(error), "journal")
                return JournalContents()
            for path, position in found.mended:
                self._note(
                    path,
                    f"a bit of the frame at byte {position} is not what it was; which one follows from its checksum, and it is put right",
                )
            for path in (*found.chain, *found.others):
                self._read(path)
            for entry in found.entries:
                self._content(entry.shard, directory, entry.data, entry.offset)
            return found
        raise AssertionError("the last try returns")

    def _content(self, shard: ShardId, path: str, data: bytes, offset: int) -> None:
        """The batches of a frame, whose own checksum holds."""
        for found in scan_batches(data, offset):
            if isinstance(found, DamagedBytes):
                self._damaged(path, 0, f"in a whole frame, of {shard} at offset {found.offset}: {found.why}", "journal")
            else:
                self._records(shard, path, 0, found, 0)

    # A shard.

    def _shard(self, shard: ShardId, end: ShardEnd | None) -> None:
        directory = f"{self.data_dir}/{shard}"
        layers = self._layers(shard, directory)
        for _ in range(_TRIES):
            found = len(self.report.damage)
            try:
                self._segments(shard, directory, end, max(layers, default=0))
            except FileNotFoundError:
                # Retention took a segment that was about to be read.
                del self.report.damage[found:]
            else:
                break
        for name in sorted(os.listdir(directory)):
            if name.startswith("."):
                self._note(f"{directory}/{name}", "left over from work that was not finished: whoever comes next removes it")

    def _layers(self, shard: ShardId, directory: str) -> list[int]:
        """The offsets up to which whole layers stand."""
        path = Path(directory)
        whole = []
        for to_offset in layer_offsets(path):
            try:
                layer = open_layer(path, to_offset)
                layer.verify()
            except DamagedLog as damage:
                # Retention may have been faster.
                if layer_path(path, to_offset).exists():
                    self._damaged(damage.path, damage.position, damage.why, "layer")
                continue
            self._layer(shard, layer)
            whole.append(to_offset)
        return whole

    def _layer(self, shard: ShardId, layer: Layer) -> None:
        """A layer whose files of records are as its manifest says."""
        offset = 0
        for file in layer.files():
            for found in scan_batches(self._read(str(file)), offset, has_gaps=True):
                if isinstance(found, DamagedBytes):
                    self._damaged(str(file), found.position, found.why, "layer")
                else:
                    offset = found.header.next_offset
                    self._records(shard, str(file), found.position, found)
        if offset > layer.to_offset:
            self._damaged(str(layer.path), 0, f"records up to offset {offset} are in it", "layer")
        self._checkpoint(layer)
        for name in (MANIFEST, *(entry.name for entry in layer.manifest.checkpoint)):
            # That one is missing, or that its name has rotted, was told above.
            with suppress(OSError):
                self._read(str(layer.path / name))

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
            self._damaged(damage.path, damage.position, damage.why, "checkpoint")

    def _segments(self, shard: ShardId, directory: str, durable: ShardEnd | None, layer_to: int) -> None:
        bases = segment_bases(self.storage, directory)
        if bases and bases[0] > layer_to:
            why = f"offsets {layer_to} to {bases[0]} before it are missing"
            self._damaged(segment_path(directory, bases[0]), 0, why, "segment")
        for base, following in zip_longest(bases, bases[1:]):
            path = segment_path(directory, base)
            kind = "history" if following is not None and following <= layer_to else "segment"
            if following is None:
                data = self._read(path)
                self._last(shard, path, data, base, durable)
                continue
            end = self._sealed(shard, path, base, following, kind)
            if end not in (following, _DAMAGED):
                size = self.storage.size(path)
                self._damaged(path, size, f"offsets {end} to {following} after it are missing", kind)
            if self.storage.exists(marks_path(path)) and read_marks(self.storage, path) is None:
                self._note(marks_path(path), "not the marks of the segment beside it: they are made anew when they are needed")

    def _sealed(self, shard: ShardId, path: str, base: int, following: int, kind: str) -> int:
        """The offset that its last batch ends at; _DAMAGED when that is damaged."""
        end = base
        for found in scan_batches(self._read(path), base, following):
            if isinstance(found, DamagedBytes):
                end = _DAMAGED
                self._damaged(path, found.position, found.why, kind)
            else:
                end = found.header.next_offset
                self._records(shard, path, found.position, found)
        return end

    def _last(self, shard: ShardId, path: str, data: bytes, base: int, durable: ShardEnd | None) -> None:
        """The active segment: damage is what is not right up to the durable end; what comes after that, the journal has, or nobody promised."""
        durable_size = durable.size if durable is not None and durable.segment == base else 0
        is_known = durable is not None or shard in self._entries
        if len(data) < durable_size:
            self._damaged(path, len(data), f"the segment was durable up to byte {durable_size}", "segment")
        for found in scan_batches(data, base):
            if isinstance(found, WholeBatch):
                self._records(shard, path, found.position, found)
            elif found.position < durable_size or not (is_known or found.is_tail or self.report.is_served):
                self._damaged(path, found.position, found.why, "segment")
            elif not self.report.is_served:
                self._note(
                    path, f"from byte {found.position} on, {found.why}: the next start has it from the journal, or cuts it off"
                )

    def _records(self, shard: ShardId, path: str, position: int, batch: WholeBatch, counted: int = 1) -> None:
        self.report.batches += counted
        kind = KINDS.get(shard.topic)
        try:
            for record in iter_records(batch.data, 0, batch.header):
                self.report.records += counted
                if kind is not None and not batch.header.is_control:
                    kind.serde.decode(record.key, record.value)
        except DecodeError as error:
            self._damaged(path, position, f"in the batch at offset {batch.header.base_offset}: {error}", "record")

    # What a start would do.

    def _try_start(self) -> None:
        known = {(finding.path, finding.position) for finding in self.report.damage}
        storage = OverlayStorage()
        try:
            recovered = recover(storage, self.data_dir)
        except DamagedLog as damage:
            if (damage.path, damage.position) not in known:
                self._damaged(damage.path, damage.position, damage.why, "start")
            return
        for shard, state in recovered.shards.items():
            try:
                layer_to_load(Path(self.data_dir) / str(shard), state.bases)
            except DamagedLog as damage:
                if (damage.path, damage.position) not in known:
                    self._damaged(damage.path, damage.position, damage.why, "start")


def _files(data_dir: str) -> Iterator[tuple[str, int]]:
    for directory, _, names in os.walk(data_dir):
        for name in names:
            path = f"{directory}/{name}"
            try:
                yield path, os.stat(path).st_size
            except FileNotFoundError:
                continue
