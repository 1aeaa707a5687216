"""What a check of a data directory finds, what it means, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.kinds import KINDS
from coordinator_server.log.meta import FORMAT
from coordinator_server.log.repair.batch_scan import WholeBatch
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import Storage, read_file
from protocol.errors import DecodeError
from protocol.record_batch import iter_records

Progress = Callable[[int, int], None]
"""Called with the number of bytes read so far, and of all bytes."""

_SALVAGE: Final = "restore the file from a copy, or 'log verify --salvage OUT' makes a directory of all that is whole"
_COUNTS: Final = ", ".join(f"{kind.partitions}=" for kind in KINDS.values() if isinstance(kind.partitions, str))
_MEANS: Final = {
    "meta": (
        "what the directory holds is unknown: the server does not start",
        f"restore the file: the lines version={FORMAT}, cluster.id=, node.id=, {_COUNTS} as they were, and none with a checksum",
    ),
    "login key": (
        "the server does not start",
        "remove the file: the next start makes another, and what is said of users that do not exist changes once",
    ),
    "journal": ("commits that were acknowledged may be gone: the server does not start", _SALVAGE),
    "segment": ("the records there cannot be read: the server does not start with this shard", _SALVAGE),
    "not needed": (
        "a start reads a layer, a checkpoint or a copy of the records instead: the server starts and its state is right",
        "compact again, so that a new layer is whole; a copy of the file brings the history back",
    ),
    "history": (
        "history is damaged there; a compacted layer replaces it: the server starts and its state is right",
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


# What is said of these is true only if a start needs what is damaged.
_STOPS_A_START: Final = frozenset({"segment", "journal"})


class Finding(Struct, frozen=True):
    """One thing that is wrong; ``kind`` is a key of the table of meanings."""

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
    """Something that is worth a line, and needs no action."""

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


class Inspection:
    """Reads the files of a check, and collects its report."""

    def __init__(self, report: Report, storage: Storage, progress: Progress, all_bytes: int) -> None:
        self.report = report
        self.storage = storage
        self._progress = progress
        self._all_bytes = all_bytes

    def damaged(self, path: str, position: int, why: str, kind: str) -> None:
        self.report.damage.append(Finding(path, position, why, kind))

    def not_needed(self, prefixes: Sequence[str]) -> None:
        """Change what was found below these paths: a start was tried, and has read what it needs."""
        self.report.damage = [
            replace(each, kind="not needed") if each.kind in _STOPS_A_START and each.path.startswith(tuple(prefixes)) else each
            for each in self.report.damage
        ]

    def note(self, path: str, what: str) -> None:
        self.report.notes.append(Note(path, what))

    def read(self, path: str) -> bytes:
        data = read_file(self.storage, path)
        self.report.files += 1
        self.report.bytes += len(data)
        # Some files are not read, and those of a server grow: only ``end`` reports all bytes.
        if self.report.bytes < self._all_bytes:
            self._progress(self.report.bytes, self._all_bytes)
        return data

    def end(self) -> None:
        """Report that everything has been read."""
        self._progress(self._all_bytes, self._all_bytes)

    def records(self, shard: ShardId, path: str, position: int, batch: WholeBatch, counted: int = 1) -> None:
        self.report.batches += counted
        kind = KINDS.get(shard.topic)
        try:
            for record in iter_records(batch.data, 0, batch.header):
                self.report.records += counted
                if kind is not None and not batch.header.is_control:
                    kind.serde.decode(record.key, record.value)
        except DecodeError as error:
            self.damaged(path, position, f"in the batch at offset {batch.header.base_offset}: {error}", "record")
