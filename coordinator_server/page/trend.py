"""How fast a group consumed over time, and how far it was behind.

Both are made from its commits, chunk by chunk: an answer reads as many chunks as there is time for, evenly spread over the window,
and the next answer others. Where nothing was read, or the end of no partition was sampled, there is None.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.page.chunk_cache import ChunkCache
from coordinator_server.page.lanes import Window
from coordinator_server.pipeline.index.chunk import batches_of
from coordinator_server.pipeline.index.reader import Chunk
from coordinator_server.pipeline.index.snapshot import Snapshot, SnapshotGroup
from coordinator_server.pipeline.index.tables.end_offsets import end_offsets, last_sample_ms
from coordinator_server.pipeline.lag.end_offsets import EndOffsets
from coordinator_server.pipeline.lag.lags import Commits

READ_S: Final = 0.06
"""The processor time in which an answer reads chunks."""
MOST_POINTS: Final = 300
_POINTS: Final = 24
"""The points of a chunk."""
_MOST_KEPT: Final = 400_000
_MOST_MS: Final = 7 * 86_400_000
"""The longest time of which an answer reads samples."""
_MOST_ENDS: Final = 8

Offsets = Mapping[tuple[str, int], int]


class Trend(Struct):
    """A window in equal parts. ``rate`` is in records per second, ``lag`` in records at the end of the part."""

    since_ms: int
    until_ms: int
    rate: list[float | None]
    lag: list[int | None]
    is_exact: bool


class Point(NamedTuple):
    """A moment of a chunk: how many records were consumed since the point before, and what was unread then."""

    at_ms: int
    moved: int
    lag: int | None


class _Ends(NamedTuple):
    """The samples that were read: since when, and up to the last one."""

    since_ms: int
    last_ms: int
    ends: EndOffsets


class Trends:
    """The trends of groups, with what was read for them. Any thread may ask."""

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._points: ChunkCache[list[Point]] = ChunkCache(_MOST_KEPT)
        self._ends: OrderedDict[frozenset[str], _Ends] = OrderedDict()
        self._lock = Lock()

    def trend(self, group: SnapshotGroup, index: Snapshot, window: Window, topics: frozenset[str]) -> Trend:
        """Return the trend of a group that consumes some topics. Raises DecodeError."""
        with self._lock:
            ends = self._ends_of(topics, index, max(window.since_ms, window.until_ms - _MOST_MS))
            parts = _Parts(window)
            end_s = self._clock() + READ_S
            is_exact = True
            chunks = group.stored.chunks
            last = chunks[-1] if chunks else None
            before = dict(zip(chunks[1:], chunks, strict=False))
            for chunk in _spread([each for each in chunks if _overlaps(each, last, window)]):
                read = partial(_course, group, chunk, before.get(chunk), ends)
                if chunk is last:
                    points, offsets = read()
                    parts.add(points)
                    parts.add_silence(points, offsets, ends)
                elif self._points.find(group.id, chunk) is not None or self._clock() < end_s:
                    parts.add(self._points.get(group.id, chunk, partial(_points_of, read)))
                else:
                    is_exact = False
            return Trend(window.since_ms, window.until_ms, parts.rates(), parts.lags, is_exact)

    def _ends_of(self, topics: frozenset[str], index: Snapshot, since_ms: int) -> EndOffsets:
        last_ms = last_sample_ms(index.database)
        known = self._ends.pop(topics, None)
        if known is not None and since_ms < known.since_ms:
            # What was unread at earlier points is known now.
            self._points = ChunkCache(_MOST_KEPT)
        if known is None or since_ms < known.since_ms or last_ms != known.last_ms:
            known = _Ends(since_ms, last_ms, end_offsets(index.database, topics, since_ms))
        self._ends[topics] = known
        if len(self._ends) > _MOST_ENDS:
            self._ends.popitem(last=False)
        return known.ends


class _Parts:
    """Sums by part of a window."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._moved = [0.0] * window.columns
        self._covered_ms = [0.0] * window.columns
        self.lags: list[int | None] = [None] * window.columns
        self._lag_at = [-1] * window.columns

    def add(self, points: Sequence[Point]) -> None:
        """Add points of a chunk: what was consumed up to each is spread over the time since the one before."""
        for before, each in pairwise(points):
            self._spread(before.at_ms, each.at_ms, each.moved)
        for each in points:
            self._note_lag(each.at_ms, each.lag)

    def add_silence(self, points: Sequence[Point], offsets: Offsets, ends: EndOffsets) -> None:
        """Add the time after the last commit, up to which the ends were sampled: nothing was consumed, and more is unread."""
        if not points:
            return
        until_ms = min(ends.last_ms, self._window.until_ms)
        self._spread(points[-1].at_ms, until_ms, 0)
        part = max(0, self._part(points[-1].at_ms) + 1)
        while (at_ms := round(self._window.since_ms + (part + 1) * self._window.column_ms) - 1) <= until_ms:
            if part >= len(self.lags):
                return
            self._note_lag(at_ms, _lag(offsets, ends, at_ms))
            part += 1
        self._note_lag(until_ms, _lag(offsets, ends, until_ms))

    def rates(self) -> list[float | None]:
        """Return the rate in each part of which something is known."""
        return [
            round(moved * 1000 / covered_ms, 3) if covered_ms > 0 else None
            for moved, covered_ms in zip(self._moved, self._covered_ms, strict=True)
        ]

    def _spread(self, since_ms: int, until_ms: int, moved: int) -> None:
        if until_ms <= since_ms:
            return
        width_ms = self._window.column_ms
        for part in range(max(0, self._part(since_ms)), min(self._part(until_ms) + 1, self._window.columns)):
            begins_ms = self._window.since_ms + part * width_ms
            within_ms = min(until_ms, begins_ms + width_ms) - max(since_ms, begins_ms)
            self._covered_ms[part] += within_ms
            self._moved[part] += moved * within_ms / (until_ms - since_ms)

    def _note_lag(self, at_ms: int, lag: int | None) -> None:
        part = self._part(min(at_ms, self._window.until_ms - 1))
        if lag is not None and part >= 0 and at_ms <= self._window.until_ms and at_ms >= self._lag_at[part]:
            self.lags[part], self._lag_at[part] = lag, at_ms

    def _part(self, at_ms: float) -> int:
        return int((at_ms - self._window.since_ms) // self._window.column_ms)


def _overlaps(chunk: Chunk, last: Chunk | None, window: Window) -> bool:
    if chunk is last:
        return True
    return chunk.first_ms is not None and chunk.first_ms < window.until_ms and (chunk.last_ms or 0) >= window.since_ms


def _spread(chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    """Yield the last chunk, and then the others so that those that were yielded are spread evenly."""
    step = 1 << max(0, len(chunks) - 1).bit_length()
    seen: set[int] = set()
    while step:
        for number in range(len(chunks) - 1, -1, -step):
            if number not in seen:
                seen.add(number)
                yield chunks[number]
        step //= 2


def _course(group: SnapshotGroup, chunk: Chunk, before: Chunk | None, ends: EndOffsets) -> tuple[list[Point], Offsets]:
    """Return points of a chunk, from the end of the one before on, and the offsets at its end."""
    commits = Commits([group.id])
    for batch in batches_of(group.stored.base(chunk)):
        commits.take(*batch)
    batches = list(batches_of(group.stored.records(chunk)))
    offsets = _offsets(commits)
    if not batches:
        return [], offsets
    first_ms, last_ms = batches[0][2].max_timestamp, batches[-1][2].max_timestamp
    if before is not None and before.last_ms is not None:
        first_ms = min(first_ms, before.last_ms)
    points = [Point(first_ms, 0, _lag(offsets, ends, first_ms))]
    next_ms = step_ms = (last_ms - first_ms) / _POINTS
    for number, batch in enumerate(batches):
        commits.take(*batch)
        at_ms = batch[2].max_timestamp
        if at_ms >= first_ms + next_ms or number == len(batches) - 1:
            now = _offsets(commits)
            moved = sum(max(0, offset - offsets.get(where, offset)) for where, offset in now.items())
            points.append(Point(at_ms, moved, _lag(now, ends, at_ms)))
            offsets = now
            next_ms = at_ms - first_ms + step_ms
    return points, offsets


def _points_of(read: Callable[[], tuple[list[Point], Offsets]]) -> list[Point]:
    return read()[0]


def _offsets(commits: Commits) -> Offsets:
    return {
        (where.topic, where.partition): window.commits[-1].offset for where, window in commits.windows.items() if window.commits
    }


def _lag(offsets: Offsets, ends: EndOffsets, at_ms: int) -> int | None:
    known = [max(0, end - offset) for where, offset in offsets.items() if (end := ends.at(*where, at_ms)) is not None]
    return sum(known) if known else None
