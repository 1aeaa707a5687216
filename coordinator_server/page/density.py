"""How much happened to a group when: its events counted in equal intervals of a window.

The index has the number of events of each chunk. Within a chunk they are counted by the times of its batches, for as many chunks as
may be read in the time of an answer; those times are kept, so that the next answer reads others. In the rest they are spread evenly
over the time of the chunk, which says how many there were, and less about when.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from coordinator_server.page.chunk_cache import ChunkCache
from coordinator_server.page.lanes import Window
from coordinator_server.pipeline.index.chunk import batches_of
from coordinator_server.pipeline.index.reader import Chunk, IndexedGroup
from coordinator_server.pipeline.replay.group_events import Event

READ_S: Final = 0.03
"""The processor time in which an answer reads chunks."""
_MOST_KEPT: Final = 4 << 20
"""The most times of batches that are kept, of 8 bytes."""


class Density(NamedTuple):
    """Numbers of events by column of the window. ``is_exact``: no chunk was spread evenly over more than a column."""

    counts: list[float]
    is_exact: bool


class Times(ChunkCache["array[int]"]):
    """The times of the batches of chunks that have ended."""

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        super().__init__(_MOST_KEPT)
        self.clock = clock

    def read(self, group_id: str, group: IndexedGroup, chunk: Chunk) -> array[int]:
        """Read the times. Raises DecodeError."""
        return self.get(
            group_id, chunk, lambda: array("q", sorted(header.max_timestamp for _, _, header in batches_of(group.records(chunk))))
        )


def density(group_id: str, group: IndexedGroup, last: Sequence[Event], times: Times, window: Window) -> Density:
    """Count the events of a window; ``last`` are those of the last chunk. Raises DecodeError."""
    counts = [0.0] * window.columns
    end_s = times.clock() + READ_S
    is_exact = True
    for event in last:
        _add(counts, window, event.at_ms, 1)
    for chunk, following in zip(group.chunks, group.chunks[1:], strict=False):
        events = following.events_before - chunk.events_before
        if chunk.first_ms is None or chunk.last_ms is None or not events:
            continue
        if chunk.last_ms < window.since_ms or chunk.first_ms > window.until_ms:
            continue
        if chunk.last_ms - chunk.first_ms < window.column_ms:
            _add(counts, window, (chunk.first_ms + chunk.last_ms) // 2, events)
            continue
        found = times.find(group_id, chunk)
        if found is None and times.clock() < end_s:
            found = times.read(group_id, group, chunk)
        if found:
            add_all(counts, window, found, events / len(found))
        else:
            is_exact = False
            _spread(counts, window, chunk.first_ms, chunk.last_ms, events)
    return Density([round(each, 2) for each in counts], is_exact)


def _add(counts: list[float], window: Window, at_ms: int, weight: float) -> None:
    if window.since_ms <= at_ms < window.until_ms:
        counts[min(int((at_ms - window.since_ms) / window.column_ms), len(counts) - 1)] += weight


def add_all(counts: list[float], window: Window, times: Sequence[int], weight: float) -> None:
    """Add a weight for each of sorted times of a window, column by column: there may be many more times than columns."""
    begin, end = bisect_left(times, window.since_ms), bisect_left(times, window.until_ms)
    while begin < end:
        column = min(int((times[begin] - window.since_ms) / window.column_ms), len(counts) - 1)
        following = bisect_left(times, window.since_ms + (column + 1) * window.column_ms, begin + 1, end)
        counts[column] += (following - begin) * weight
        begin = following


def _spread(counts: list[float], window: Window, first_ms: int, last_ms: int, events: int) -> None:
    """Spread events evenly over the columns of a time."""
    first = (first_ms - window.since_ms) / window.column_ms
    last = (last_ms - window.since_ms) / window.column_ms
    rate = events / (last - first)
    for column in range(max(int(first), 0), min(int(last) + 1, len(counts))):
        counts[column] += rate * max(min(last, column + 1) - max(first, column), 0.0)
