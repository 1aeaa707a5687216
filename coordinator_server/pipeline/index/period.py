"""The newest events of a group in a period, from its chunks and from the batches of the log after them.

Events one by one come from the records of as few chunks as have enough of them. With runs of commits as one, each chunk has those
that have ended in it. A run that has begun before the period, or ends after it, is made again from the records at that border, and
from the parts of the chunks between. If times go back, which they may in the log of a Kafka broker, all records are read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from coordinator_server.pipeline.index.chunk import GroupReplay, first_start
from coordinator_server.pipeline.index.reader import Chunk, IndexedGroup
from coordinator_server.pipeline.replay.group_events import Event, Runs, in_runs
from coordinator_server.pipeline.replay.group_ledger import GroupLedger
from coordinator_server.pipeline.replay.group_owners import Ownership, by_partition
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.record_batch import BatchHeader

Batches = Iterable[tuple[bytes, int, BatchHeader]]


class Period(NamedTuple):
    """Which events are asked for: the newest ``limit`` in a time, or all with 0. ``each``: no runs."""

    since_ms: int | None = None
    until_ms: int | None = None
    limit: int = 0
    each: bool = False

    @property
    def is_all(self) -> bool:
        """Whether no time is named."""
        return self.since_ms is None and self.until_ms is None

    def has(self, event: Event) -> bool:
        """Return whether an event is in the time."""
        return (self.since_ms is None or event.at_ms >= self.since_ms) and (self.until_ms is None or event.at_ms <= self.until_ms)


class Found(NamedTuple):
    """Events in order, the number of earlier ones that were left out, and the ledger after all records."""

    events: list[Event]
    left_out: int
    ledger: GroupLedger


class _Pile:
    """Collects lists of events, the newest list first, until there are enough."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lists: list[Sequence[Event]] = []
        self._kept = 0
        self._count = 0

    def add(self, count: int, read: Callable[[], Sequence[Event]]) -> None:
        """Add the ``count`` events before those that were added. They are read if they are wanted."""
        self._count += count
        if count and (not self._limit or self._kept < self._limit):
            self._lists.append(read())
            self._kept += count

    def found(self, ledger: GroupLedger) -> Found:
        """Return the newest events."""
        events = list(chain.from_iterable(reversed(self._lists)))
        events = events[-self._limit :] if self._limit else events
        return Found(events, self._count - len(events), ledger)


class PeriodReader:
    """Reads the events of one group. ``tail`` has the batches of the log after the index; it is read once."""

    def __init__(self, group: IndexedGroup, group_id: str, names: NamesOfTopics, tail: Batches) -> None:
        self._group = group
        self._id = group_id
        self._names = names
        self._chunks = group.chunks
        self._is_ordered = group.is_ordered
        # What is not in a chunk that has ended: it is read in any case, for the ledger.
        replay = self._replay(self._chunks[-1] if self._chunks else None)
        latest = max((chunk.last_ms for chunk in self._chunks[:-1] if chunk.last_ms is not None), default=-1)
        self._last = list(replay.events(group.records(self._chunks[-1]) if self._chunks else b""))
        for batch in tail:
            self._last += replay.ledger.add(*batch)
        for event in self._last:
            self._is_ordered &= event.at_ms >= latest
            latest = event.at_ms
        self._ledger = replay.ledger
        self._replayed = replay

    def read(self, period: Period) -> Found:
        """Return the newest events of a period."""
        if period.each:
            return self._each(period)
        if self._is_ordered or period.is_all:
            return self._in_runs(period)
        runs, found = Runs(), []
        for number in range(len(self._chunks) or 1):
            found += self._feed(number, runs, period)
        return _found([*found, *runs.end()], period, self._ledger)

    @property
    def last(self) -> Sequence[Event]:
        """The events that are in no chunk that has ended, one by one."""
        return self._last

    def owners(self) -> list[Ownership]:
        """Return the owners of all partitions over time, those of a partition in order."""
        return by_partition([*self._group.owned(), *self._replayed.owned, *self._replayed.owners.open()])

    # --- one by one

    def _each(self, period: Period) -> Found:
        pile = _Pile(period.limit)
        last = [event for event in self._last if period.has(event)]
        pile.add(len(last), lambda: last)
        for number in reversed(range(len(self._chunks) - 1)):
            chunk = self._chunks[number]
            if chunk.first_ms is None or chunk.last_ms is None or not _overlap(chunk, period):
                continue
            if _is_inside(chunk, period):
                pile.add(self._chunks[number + 1].events_before - chunk.events_before, lambda: self._events(number))  # noqa: B023 - called at once
            else:
                some = [event for event in self._events(number) if period.has(event)]
                pile.add(len(some), lambda: some)  # noqa: B023 - called at once
        return pile.found(self._ledger)

    # --- with runs

    def _in_runs(self, period: Period) -> Found:
        last = self._last_chunk(period)
        pile = _Pile(period.limit)
        begin = 0
        early: list[Event] = []
        if period.since_ms is not None:
            early, begin = self._from_since(period, last)
            if begin > last:
                return _found(early, period, self._ledger)
        runs = self._runs(last)
        newest = [*self._feed(last, runs, period), *runs.end()]
        pile.add(len(newest), lambda: newest)
        for number in reversed(range(begin, last)):
            count = self._chunks[number + 1].shown_before - self._chunks[number].shown_before
            pile.add(count, lambda: self._group.shown(self._chunks[number]))  # noqa: B023 - called at once
        pile.add(len(early), lambda: early)
        return pile.found(self._ledger)

    def _from_since(self, period: Period, last: int) -> tuple[list[Event], int]:
        """Return the events from the beginning of the period on, as far as a run may go on that has begun before it.

        Also the first chunk after them: they end with a chunk, or with the period.
        """
        assert period.since_ms is not None
        ended = self._chunks[:-1]
        first = next(
            (at for at, each in enumerate(ended) if each.last_ms is not None and each.last_ms >= period.since_ms), len(ended)
        )
        first = min(first, last)
        runs = self._runs(first)
        runs.forget()
        found: list[Event] = []
        for number in range(first, last + 1):
            part = self._group.part(self._chunks[number]) if first < number < last else None
            if part is not None:
                runs.absorb(part)
                continue
            has_ended = False
            for event in self._events(number):
                breaks = runs.breaks
                found += runs.add(event, is_chosen=period.has(event))
                has_ended |= runs.breaks > breaks and event.at_ms >= period.since_ms
            if number == last:
                break
            if has_ended:
                return found, number + 1
        return [*found, *runs.end()], last + 1

    def _last_chunk(self, period: Period) -> int:
        """Return the number of the first chunk in which the period has ended, or of the last one of all."""
        until_ms, ended = period.until_ms, self._chunks[:-1]
        later = (number for number, each in enumerate(ended) if each.last_ms is not None and each.last_ms > (until_ms or 0))
        return len(ended) if until_ms is None else next(later, len(ended))

    # --- chunks

    def _feed(self, number: int, runs: Runs, period: Period) -> list[Event]:
        """Give the events of a chunk to runs, and return what has ended."""
        return [found for event in self._events(number) for found in runs.add(event, is_chosen=period.has(event))]

    def _events(self, number: int) -> Sequence[Event]:
        if number >= len(self._chunks) - 1:
            return self._last
        chunk = self._chunks[number]
        return list(self._replay(chunk).events(self._group.records(chunk)))

    def _runs(self, number: int) -> Runs:
        return Runs(self._group.start(self._chunks[number]).runs if self._chunks else ())

    def _replay(self, chunk: Chunk | None) -> GroupReplay:
        return GroupReplay(self._id, self._names, first_start() if chunk is None else self._group.start(chunk))


def newest_events(events: Iterable[Event], ledger: GroupLedger, period: Period) -> Found:
    """Return the newest events of a period from all events of a group, which the ledger finds."""
    return _found(filter(period.has, events) if period.each else in_runs(events, period.has), period, ledger)


def _found(events: Iterable[Event], period: Period, ledger: GroupLedger) -> Found:
    kept: deque[Event] = deque(maxlen=period.limit or None)
    count = 0
    for event in events:
        count += 1
        kept.append(event)
    return Found(list(kept), count - len(kept), ledger)


def _overlap(chunk: Chunk, period: Period) -> bool:
    assert chunk.first_ms is not None
    assert chunk.last_ms is not None
    return (period.since_ms is None or chunk.last_ms >= period.since_ms) and (
        period.until_ms is None or chunk.first_ms <= period.until_ms
    )


def _is_inside(chunk: Chunk, period: Period) -> bool:
    assert chunk.first_ms is not None
    assert chunk.last_ms is not None
    return (period.since_ms is None or chunk.first_ms >= period.since_ms) and (
        period.until_ms is None or chunk.last_ms <= period.until_ms
    )
