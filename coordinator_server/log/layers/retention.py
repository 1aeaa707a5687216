"""Remove layers that newer ones supersede, and segments that a layer replaces when their history is old enough.

Only the loop that owns a shard removes files, in a thread of its own. The owner may change meanwhile,
so before each removal it looks whether the shard was released. ``replay`` and ``history`` rebuild
earlier states from the segments, so there must always be a layer that the kept segments begin with:

    base     the layer that the kept history begins with; None while the segments go back to offset 0
    next     the oldest layer after the base: it becomes the base when everything before it is old enough
    newest   the layer that a start loads

These three are kept, with every segment from the base on. So every moment of the kept history can
be rebuilt, and if the newest layer is damaged there is another way to the same state. At least
``history_ms`` is kept, and with regular compaction at most about twice that. Segments that no layer
replaces stay whatever their age, and so do those that recovery needs: the one that the journal's
head names, and all after it.

Before anything is removed, the layer that replaces it is read back and compared with its manifest,
and its name is synced. Segments are removed one by one, the oldest first, and each removal is
synced before the next, so that a crash leaves no hole. A layer loses its name first. A file that a
reader holds stays until the next time, with all after it.

The clock is the caller's. The server's is the wall clock, limited to the speed of the monotonic
clock, so that a jump removes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from coordinator_server.log.errors import DamagedLog, OutcomeUnknown
from coordinator_server.log.file_names import layer_offsets, layer_path, marks_path, segment_path
from coordinator_server.log.layers.layer import MANIFEST, Layer, open_layer
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import LOCAL, Storage, remove_tree, sync_dir
from coordinator_server.log.store import FOREVER, History, Removed, RetentionRule
from coordinator_server.log.write.segments import ShardLog
from coordinator_server.worker import ThreadWorker

_GONE: Final = ".layer-gone-"


class SealedSegment(NamedTuple):
    """A sealed segment: the offsets ``[base, end)``, its bytes, and its largest timestamp."""

    base: int
    end: int
    size: int
    max_ms: int


class Removable(NamedTuple):
    """What may be removed, and the layers that replace it, which have to be intact."""

    layers: list[int]
    segments: list[int]
    replaced_by: list[int]


def removable(begin: int, layers: Sequence[int], segments: Sequence[SealedSegment], now_ms: int, history: History) -> Removable:
    """Return what may be removed of a shard.

    Its segments begin at ``begin``, its valid layers end at ``layers``; all ascending.
    """
    newest = layers[-1] if layers else -1
    if newest < begin:
        return Removable([], [], [])  # No layer replaces a segment.
    cut = old_to(begin, newest, segments, now_ms, history)
    base = max((each for each in layers if each <= cut), default=None)
    following = min((each for each in layers if base is None or each > base), default=None)
    superseded = [each for each in layers if each not in (base, following, newest)]
    gone = [segment.base for segment in segments if base is not None and segment.end <= base]
    replaced_by = sorted({each for each in (base, newest) if each is not None}) if superseded or gone else []
    return Removable(superseded, gone, replaced_by)


def old_to(begin: int, newest: int, segments: Sequence[SealedSegment], now_ms: int, history: History) -> int:
    """Return the end of the segments that are older than what is kept, or more than that, and that the newest layer replaces."""
    cut, total = begin, sum(segment.size for segment in segments)
    for segment in segments:
        is_old = history.history_ms != FOREVER and now_ms - segment.max_ms > history.history_ms
        is_much = history.history_bytes != FOREVER and total > history.history_bytes
        if segment.end > newest or not (is_old or is_much):
            break
        cut = segment.end
        total -= segment.size
    return cut


class RetainedLog(Protocol):
    """What retention needs of the store whose shards it looks after."""

    @property
    def failure(self) -> OutcomeUnknown | None: ...

    def logs(self) -> list[ShardLog]: ...

    def first_needed_segment(self, shard: ShardId, /) -> int: ...

    def fail(self, error: OutcomeUnknown, /) -> None: ...


class Retention:
    """The job, from ``start`` to ``close``."""

    def __init__(self, store: RetainedLog, history: History, rule: RetentionRule, storage: Storage = LOCAL) -> None:
        self._store = store
        self._history = history
        self._on_removed = rule.on_removed
        self._on_failed = rule.on_failed
        self._check_s = rule.check_ms / 1000
        self._storage = storage
        self._now_ms = rule.now_ms
        self._sealed: dict[ShardId, dict[int, SealedSegment]] = {}
        self._worker = rule.worker or ThreadWorker(self._on_death)

    def keep(self, history: History) -> None:
        """Keep so much history from the next check on."""
        self._history = history

    def start(self) -> None:
        """Check every ``check_ms``, the first time after one interval."""
        self._worker.run(self._check, delay=self._check_s)

    def close(self) -> None:
        """Stop. Return when the running check is done."""
        self._worker.close()

    def _check(self) -> None:
        for log in self._store.logs():
            if self._store.failure is not None:
                return
            try:
                removed = self._remove_from(log)
            except OutcomeUnknown as error:
                self._store.fail(error)
                return
            except OSError as error:
                self._on_failed(error)
                continue
            if removed.layers or removed.segments or removed.damage:
                self._on_removed(removed)
        self._worker.run(self._check, delay=self._check_s)

    def _on_death(self) -> None:
        self._store.fail(OutcomeUnknown("the log's retention stopped: its error came before this one"))

    def _remove_from(self, log: ShardLog) -> Removed:
        directory = Path(log.directory)
        removed = Removed(log.shard, [], [])
        layers: dict[int, Layer] = {}
        with log.removals:
            if log.is_released:
                return removed
            _finish_removals(self._storage, log.directory)
        for to_offset in reversed(layer_offsets(directory, self._storage)):
            try:
                layers[to_offset] = open_layer(directory, to_offset, self._storage)
            except DamagedLog as damage:
                removed = removed._replace(damage=damage)
        bases = log.bases()
        if not layers or not bases:
            return removed
        try:
            found = removable(bases[0], list(layers), self._segments(log, bases), self._now_ms(), self._history)
            for to_offset in found.replaced_by:
                layers[to_offset].verify()
        except DamagedLog as damage:
            return removed._replace(damage=damage)
        if found.replaced_by:
            sync_dir(self._storage, log.directory)
        for to_offset in found.layers:
            if _remove_layer(self._storage, log, to_offset):
                removed.layers.append(to_offset)
        for base in found.segments:
            if not remove_segment(self._storage, log, base):
                break
            removed.segments.append(base)
        return removed

    def _segments(self, log: ShardLog, bases: Sequence[int]) -> list[SealedSegment]:
        """Return the sealed segments that recovery does not need. They never change, so they are remembered."""
        known, limit = self._sealed.get(log.shard, {}), self._store.first_needed_segment(log.shard)
        self._sealed[log.shard] = {
            base: known.get(base) or _sealed(log, base, end) for base, end in pairwise(bases) if base < limit
        }
        return list(self._sealed[log.shard].values())


def _sealed(log: ShardLog, base: int, end: int) -> SealedSegment:
    index = log.index(base)
    return SealedSegment(base, end, index.size, index.max_ms)


def remove_segment(storage: Storage, log: ShardLog, base: int) -> bool:
    """Remove a segment and its marks. Return False if a reader holds it, or the shard was released."""
    path = segment_path(log.directory, base)
    with log.removals:
        hold = None if log.is_released else storage.unshared(path)
        if hold is None:
            return False
        log.hide(base)
        try:
            storage.remove(path)
            storage.remove(marks_path(path))
            sync_dir(storage, log.directory)
        except OSError:
            if storage.exists(path):
                log.unhide(base)
            raise
        finally:
            hold.close()
    return True


def _remove_layer(storage: Storage, log: ShardLog, to_offset: int) -> bool:
    """Remove a layer. Return False if a reader holds it, or the shard was released."""
    path = str(layer_path(Path(log.directory), to_offset))
    with log.removals:
        hold = None if log.is_released else storage.unshared(f"{path}/{MANIFEST}")
        if hold is None:
            return False
        try:
            storage.rename(path, f"{log.directory}/{_GONE}{to_offset:020d}")
            _finish_removals(storage, log.directory)
        finally:
            hold.close()
    return True


def _finish_removals(storage: Storage, directory: str) -> None:
    """Remove the files of layers that have lost their name, now or before a crash."""
    gone = [name for name in storage.list(directory) if name.startswith(_GONE)]
    if gone:
        # Else a power loss might give a layer its name back, without its files.
        sync_dir(storage, directory)
    for name in gone:
        remove_tree(storage, f"{directory}/{name}")
