"""The interfaces to a log for processes other than the server's loops: jobs, and commands that read.

    JobShard        what a shard has for jobs, and where its new layers go
    Layer           a result of compaction, which replaces the offsets before its end
    LayerAttempt    a layer that is being written
    InputFile       a part of a shard or of a layer, for whoever reads it as a whole
    SavedFile       a file that a backup has of a log

``opening.py`` returns the shards of a log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Protocol, Self

from crc32c import crc32c
from msgspec import Struct

from coordinator_server.log.store import Checkpoint
from protocol.record_batch import BatchHeader

CONTROL_SOCKET: Final = "control.sock"
"""Where the server that has a log is asked: a Unix socket beside the log."""
OBSERVED_FACTS: Final = "observed.json"
"""What is known of a log that follows another cluster (observe/facts.py): a file beside it."""


class Holder(NamedTuple):
    """The process that has a log: None if its pid is unknown. ``job`` is empty for a server."""

    pid: int | None
    job: str = ""

    def __str__(self) -> str:
        return f"process {self.pid or 'unknown'}" + (f", a job ({self.job})" if self.job else "")


class Cleanable(NamedTuple):
    """The bytes of a shard after its newest layer (dirty), and the bytes of records in that layer (clean)."""

    dirty: int
    clean: int

    @property
    def ratio(self) -> float:
        """The dirty part of all bytes, as Kafka's log cleaner computes it."""
        return self.dirty / (self.dirty + self.clean) if self.dirty else 0.0


class InputFile(Struct, frozen=True):
    """A file of batches. Records before ``from_offset`` are skipped, and so are all from ``to_offset`` on.

    A dense file, a segment, holds every offset from ``begin`` up to ``to_offset``. An open one goes on after that. A piece of a
    file is its bytes from ``start`` up to ``end`` (-1: of the file), which are whole batches.
    """

    path: str
    from_offset: int
    to_offset: int
    is_dense: bool
    begin: int = 0
    is_open: bool = False
    start: int = 0
    end: int = -1


class FileEntry(Struct, frozen=True, gc=False):
    """What a layer states of a file that it has, or was made from."""

    name: str
    size: int
    crc32c: int


class SavedFile(NamedTuple):
    """A file that a backup has of a log. ``read`` returns its content, as the entry describes it. Raises DamagedLog."""

    entry: FileEntry
    read: Callable[[], bytes]


class LayerSummary(NamedTuple):
    """What the writer of a layer states of its records; ``digest`` covers keys and values in any order."""

    records: int
    tombstones: int
    cutoff_ms: int | None
    digest: str


class Block(NamedTuple):
    """The state of one key as a checkpoint holds it."""

    key: str
    data: bytes
    rows: int
    bounds: tuple[int, int]


def in_order(blocks: Iterable[Block]) -> list[Block]:
    """Return blocks in the order of a checkpoint: by the hash of the key, then by the key."""
    return sorted(blocks, key=lambda block: (crc32c(raw := block.key.encode()), raw))


class Layer(Protocol):
    """A published layer, or one that is being written, as far as it is."""

    @property
    def to_offset(self) -> int:
        """The first offset after the layer."""

    def files(self) -> list[Path]:
        """Return the files of records in offset order."""

    def read_with_headers(self, from_offset: int = 0) -> Iterator[tuple[bytes, BatchHeader]]:
        """Yield whole batches with their headers, from the first that ends after ``from_offset``. Raises DamagedLog."""


class LayerAttempt(Protocol):
    """Writes one layer. Leaving the ``with`` block by an exception removes it."""

    @property
    def path(self) -> Path:
        """A directory of the attempt's own, for its files and for temporary ones. It also names the attempt to ``publish``."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    @property
    def room(self) -> int:
        """The number of bytes that fit into the current file."""

    @property
    def size(self) -> int:
        """The number of bytes of the records that are written and closed."""

    def append(self, base_offset: int, *batch: bytes | memoryview) -> None:
        """Add one whole batch, given in any number of pieces. Batches come in offset order."""

    def close(self) -> None:
        """Sync the records after the last batch, so that they can be read back."""

    def preview(self) -> Layer:
        """Return the layer as it is so far, for reading it back. It must not be published."""

    def add_checkpoint(self, blocks: Iterable[Block], rest: Iterable[bytes]) -> None:
        """Add a checkpoint. ``blocks`` come in the order of ``in_order``, and are not held."""

    def open_checkpoint(self) -> Checkpoint:
        """Open the checkpoint that was added, to read it back. Raises DamagedLog."""

    def verify_checkpoint(self) -> None:
        """Read every block of the checkpoint that was added. Raises DamagedLog."""

    def remove_checkpoint(self) -> None:
        """Remove the files of a checkpoint."""

    def finish(self, summary: LayerSummary, inputs: Sequence[FileEntry]) -> Path:
        """Add what the layer states of itself, and sync everything. After this the attempt may be published."""


ShardInput = tuple[Layer | None, list[InputFile]]
"""What a job reads of a shard, in offset order, and the layer that the first files belong to."""


class JobShard(Protocol):
    """A shard as jobs see it. All that is sealed never changes, and is read without a lock while the server runs."""

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> str:
        """Where ``opening.job_shard`` finds the shard again, in a different process too."""

    def exists(self) -> bool:
        """Return whether anything was ever written to the shard."""

    def sealed_to(self, upto: int | None = None) -> int:
        """Return the offset up to which the shard is sealed, at a border of files that is not after ``upto``."""

    def compacted_to(self) -> int:
        """Return the end of the newest layer; 0 without one."""

    def compacted(self, upto: int) -> ShardInput:
        """Return what a start would read for the offsets before ``upto``: the newest layer, and what comes after it."""

    def whole(self, upto: int) -> ShardInput:
        """Return the whole history before ``upto``. If its beginning was removed, the oldest layer that replaces it comes first."""

    def behind_loss(self, lost_to: int, upto: int) -> ShardInput | None:
        """Return the oldest layer behind records that salvage has not found, and what comes after it; None without such a layer."""

    def since(self, position: int, upto: int) -> list[InputFile]:
        """Return the segments with offsets from ``position`` up to ``upto``, as far as they are kept."""

    def saved(self, cut: int, known: Mapping[str, FileEntry], *, with_history: bool) -> Iterator[SavedFile]:
        """Yield what a backup has of the shard before ``cut``, as files that a restore makes a directory of.

        None is removed while it is the last one that was yielded. ``known`` has files of the backup before, by name: those that
        are still the same are not read. Without ``with_history`` the state is enough. Raises LogError, and FileNotFoundError if
        history was removed meanwhile: begin again.
        """

    def newest_layer(self) -> Layer | None:
        """Return the newest layer; None without one."""

    def size(self, upto: int) -> int:
        """Estimate the bytes of ``compacted``, without reading any."""

    def segment_sizes(self) -> dict[str, int]:
        """Return the sizes of all segments. Those that are made or removed meanwhile may be missing."""

    def entries(self, source: ShardInput) -> list[FileEntry]:
        """Return what a layer that is made from ``source`` states of it."""

    def new_layer(self, to_offset: int) -> LayerAttempt:
        """Begin a layer for the offsets before ``to_offset``."""

    def publish(self, attempt: str, to_offset: int) -> bool:
        """Make a finished attempt the layer at ``to_offset``, at once. Return False if an intact one exists already: that stays."""

    def clean_attempts(self) -> int:
        """Remove the attempts that writers left when they died, and return their number. The caller holds the compaction lock."""
