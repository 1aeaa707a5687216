"""The whole log of a node on a simulated store: SharedLog, and in memory what the node has read and written of its shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from coordinator_server.log.errors import DamagedLog, Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.file_names import layer_path
from coordinator_server.log.layers.checkpoint import Checkpoint as LayerCheckpoint
from coordinator_server.log.layers.layer import MANIFEST, Layer, open_layer
from coordinator_server.log.memory import MemoryStorage
from coordinator_server.log.postgresql.layers import verify_all
from coordinator_server.log.shards import Ownership, ShardEnd, ShardId
from coordinator_server.log.storage import discard_tree, write_all
from coordinator_server.log.store import History, Meta, OnReleased, OnTaken, RetentionRule
from coordinator_server.log.submit_counts import SubmitCounts
from protocol.record_batch import iter_batches, read_header
from tests.support.shared_layers import StoredLayer
from tests.support.shared_store import Database, Post, Row, Shard, SharedLog

T = TypeVar("T")


def tried(statement: Callable[[], T]) -> T | LogError:
    """Return what a statement says, or its error: one that is late is nobody's."""
    try:
        return statement()
    except LogError as error:
        return error


class NoRetention:
    """History stays."""

    def keep(self, history: History) -> None: ...

    def start(self) -> None: ...

    def close(self) -> None: ...


class Loaded(NamedTuple):
    """What a node has of a shard: its layer, if it has one, and the rows after that."""

    layer: Layer | None
    rows: Shard

    @property
    def compacted_to(self) -> int:
        return self.layer.to_offset if self.layer is not None else 0


class NodeLog(SharedLog):
    """A LogStore. A node knows of a shard what it read when it acquired it, and what it has written since.

    ``bring`` calls its argument when the files of a layer have had time to be here.
    """

    failure: OutcomeUnknown | None = None

    def __init__(self, database: Database, post: Post, answer: Post, again: Post, bring: Post, meta: Meta) -> None:
        super().__init__(database, post, answer, again)
        self.meta = meta
        self.submits = SubmitCounts()
        self._bring = bring
        self._here: dict[ShardId, Loaded] = {}
        self._storage = MemoryStorage()

    def acquire(self, owned: Ownership, done: OnTaken, /) -> None:
        """Read a shard at the epoch of its owner: its newest layer, and then, in one snapshot, the rows after that."""

        def looked(found: Loaded | list[StoredLayer] | LogError) -> None:
            if isinstance(found, list):
                self._bring(lambda: self._try(lambda: self._newest(owned.shard, found), copied))
            else:
                acquired(found)

        def copied(layer: Layer | LogError | None) -> None:
            if isinstance(layer, LogError):
                acquired(layer)
            else:
                self._bring(lambda: self._try(lambda: self._loaded(owned, layer), acquired))

        def acquired(found: Loaded | LogError) -> None:
            self._answer(lambda: self._acquired(owned.shard, found, done))

        self._try(lambda: self._database.layers.of(owned.shard) or self._loaded(owned, None), looked)

    def _try(self, statement: Callable[[], T], done: Callable[[T | LogError], None]) -> None:
        """Post a statement. ``done`` gets what it says, or why it says nothing, where it has run."""

        def run() -> None:
            try:
                outcome = self._database.run(lambda: tried(statement))
            except LogError as error:
                outcome = error
            done(outcome)

        self._post(run)

    def _newest(self, shard: ShardId, found: Sequence[StoredLayer]) -> Layer | None:
        """The newest layer whose files are as its manifest states them, as of rows that were read some time ago."""
        layers, start = self._database.layers, self._database.shard(shard).start
        for stored in found:
            files = layers.files(shard, stored)
            if files is None and stored not in layers.of(shard):
                raise Unavailable("the layer was replaced meanwhile")
            try:
                return self._copied(shard, stored, files or {})
            except DamagedLog:
                continue
        if start:
            raise DamagedLog(str(shard), start, "no layer has the rows that were removed")
        return None

    def _copied(self, shard: ShardId, stored: StoredLayer, files: Mapping[str, bytes]) -> Layer:
        directory = layer_path(Path("/") / str(shard), stored.to_offset)
        discard_tree(self._storage, str(directory))
        for path in (directory.parent, directory):
            self._storage.make_dir(str(path))
        for name, content in {**files, MANIFEST: stored.manifest}.items():
            write_all(self._storage.open(str(directory / name), create=True), content, 0)
        layer = open_layer(directory.parent, stored.to_offset, self._storage)
        verify_all(layer)
        return layer

    def _loaded(self, owned: Ownership, layer: Layer | None) -> Loaded:
        self._database.loaded_from_layers += layer is not None
        rows, to_offset = self._database.shard(owned.shard).copy(), 0 if layer is None else layer.to_offset
        if rows.epoch[0] != owned.epoch:
            raise Fenced(f"{owned.shard} has the epoch {rows.epoch}, not {owned.epoch}")
        if not self.reaches(rows, to_offset):
            raise Unavailable("rows were removed meanwhile")
        first = max(rows.start, to_offset)
        rows.batches = [each for each in rows.batches if read_header(each).next_offset > first] if first else rows.batches
        return Loaded(layer, rows)

    def reaches(self, rows: Shard, to_offset: int) -> bool:
        """Whether no row is missing between the end of a layer and those that are there."""
        return to_offset >= rows.start

    def prepare(self, shards: Sequence[ShardId], done: Callable[[], None], /) -> None:
        """Nothing is read twice here; it takes a statement's time."""
        self._post(lambda: self._answer(done))

    def _acquired(self, shard: ShardId, found: Loaded | LogError, done: OnTaken) -> None:
        if isinstance(found, LogError):
            done(found)
            return
        self._here[shard] = found
        # The number of resolutions begins anew with each epoch.
        self._resolved[shard] = found.rows.epoch[1]
        done(None)

    def compacted_to(self, shard: ShardId, /) -> int:
        return self._here[shard].compacted_to if shard in self._here else 0

    def checkpoint(self, shard: ShardId, /) -> LayerCheckpoint | None:
        layer = self._here[shard].layer if shard in self._here else None
        return LayerCheckpoint(layer) if layer is not None and layer.manifest.checkpoint else None

    def read(self, shard: ShardId, from_offset: int, /) -> Iterator[bytes]:
        layer = self._here[shard].layer if shard in self._here else None
        if layer is not None and from_offset < layer.to_offset:
            return chain(layer.read(from_offset), super().read(shard, layer.to_offset))
        return super().read(shard, from_offset)

    def end_time(self, shard: ShardId, /) -> int:
        layer = self._here[shard].layer if shard in self._here else None
        return super().end_time(shard) if layer is None or self._batches(shard) else layer.end_time()

    def _settle(self, rows: Sequence[Row], failures: Mapping[ShardId, LogError]) -> None:
        for row in rows:
            here = self._here.get(row.shard)
            if row.shard not in failures and here is not None:
                here.rows.end = row.end
                here.rows.batches += [row.data[at : at + header.size] for at, header in iter_batches(row.data)]

    def _batches(self, shard: ShardId) -> Sequence[bytes]:
        return self._here[shard].rows.batches if shard in self._here else ()

    def end_offset(self, shard: ShardId, /) -> int:
        return self._here[shard].rows.end if shard in self._here else 0

    # What is left of LogStore.

    def release(self, shards: Sequence[ShardId], done: OnReleased, /) -> None:
        raise AssertionError("a node releases shards as a member")

    def take(self, ends: Sequence[ShardEnd], done: OnTaken, /) -> None:
        raise AssertionError("a node takes shards as a member")

    def forget(self, shards: Sequence[ShardId], done: Callable[[], None], /) -> None:
        for shard in shards:
            self._here.pop(shard, None)
        done()

    def retention(self, history: History, rule: RetentionRule, /) -> NoRetention:
        return NoRetention()

    def topics(self) -> set[str]:
        return {shard.topic for shard, kept in self._database.shards.items() if kept.batches}

    def login_key(self) -> bytes:
        return b"k" * 32

    def when_failed(self, on_failure: Callable[[OutcomeUnknown], Any], /) -> None:
        """Whatever fails has a submit that waits for it."""
