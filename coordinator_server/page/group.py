"""One group over time, as a picture and in words: lanes of its partitions, its rebalances, its members, and how much happened when.

All of an answer is bounded: a window has columns, a picture lanes, marks and sessions, and a list of events its newest ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from coordinator_server.page.density import Times, density
from coordinator_server.page.lanes import Lane, Owner, Owners, Window, lanes
from coordinator_server.page.sessions import Session, overlapping, sessions
from coordinator_server.page.summary import REBALANCES, Words
from coordinator_server.pipeline.index.period import Period
from coordinator_server.pipeline.index.reader import IndexedGroup
from coordinator_server.pipeline.index.snapshot import SnapshotGroup
from coordinator_server.pipeline.replay.consumer_events import DELETED, LEFT, SETTLED, STEP, TARGET
from coordinator_server.pipeline.replay.group_events import (
    COMMITTED,
    CREATED,
    NOT_COMMITTED,
    OFFSETS_DELETED,
    OFFSETS_RESTORED,
    RESET,
    TO_CLASSIC,
    TO_CONSUMER,
    Event,
)

MOST_COLUMNS: Final = 4000
BAR: Final = 4
"""The columns of a bar that shows how much happened (static/activity.js): to count in narrower ones, more would have to be read."""
MOST_LANES: Final = 200
MOST_MARKS: Final = 400
"""More marks than that are counted by column."""
MOST_EVENTS: Final = 500
MOST_READ: Final = 20_000
"""The most events, with runs of commits as one, that a picture is made of. Of more, it has no marks and no sessions."""
_KINDS: Final = {
    **dict.fromkeys(REBALANCES, "rebalance"),
    **dict.fromkeys((TARGET, STEP, LEFT), "step"),
    SETTLED: "settled",
    **dict.fromkeys((RESET, OFFSETS_DELETED, OFFSETS_RESTORED), "operator"),
    NOT_COMMITTED: "aborted",
    **dict.fromkeys((CREATED, DELETED, TO_CLASSIC, TO_CONSUMER), "life"),
    COMMITTED: "commit",
}
_MARKED: Final = frozenset({"rebalance", "operator", "aborted", "life"})
_OTHER: Final = "other"


class Said(Struct):
    """An event in words. ``kind`` is how a picture shows it."""

    at_ms: int
    kind: str
    text: str
    cause: str = ""
    until_ms: int | None = None
    commits: int = 0
    took_ms: int | None = None


class Marks(Struct):
    """What happened in a window but commits: one by one, or, if that is too much, numbers of rebalances by column.

    ``left_out`` is the number of events that were too many to be read at all; then there are neither.
    """

    found: list[Said] = []
    counts: list[int] | None = None
    count: int = 0
    left_out: int = 0


class Picture(Struct):
    """A group in a window of time. ``begins_ms`` and ``ends_ms`` are the times of its first and its last event.

    What goes on is known to go on until ``known_until_ms``: the log was read up to then, or ends there.
    """

    since_ms: int
    until_ms: int
    begins_ms: int | None
    ends_ms: int | None
    known_until_ms: int
    owners: list[Owner]
    lanes: list[Lane]
    lane_count: int
    density: list[float]
    is_exact: bool
    marks: Marks
    sessions: list[Session]


class Events(Struct):
    """Events in words, the newest last; ``left_out`` counts the earlier ones of the period."""

    events: list[Said]
    left_out: int


def kind_of(event: Event) -> str:
    """Return how a picture shows an event."""
    return _KINDS.get(event.what, _OTHER)


def said(event: Event, words: Words) -> Said:
    """Put an event into words."""
    return Said(
        event.at_ms,
        kind_of(event),
        words.sentence(event),
        words.cause(event),
        event.until_ms,
        event.commits or int(event.what == COMMITTED),
        event.after_ms,
    )


def times_of(group: IndexedGroup, last: Sequence[Event]) -> tuple[int, int] | None:
    """Return the times of a group's first and last event; None if it has none."""
    begins = [each.first_ms for each in group.chunks if each.first_ms is not None]
    ends = [each.last_ms for each in group.chunks if each.last_ms is not None]
    begins += [event.at_ms for event in last]
    ends += [event.until_ms or event.at_ms for event in last]
    return (min(begins), max(ends)) if begins and ends else None


def window_of(
    whole: tuple[int, int] | None, times: tuple[int | None, int | None], read_ms: int, columns: int
) -> tuple[Window, int]:
    """Return a window of time, and until when what goes on is known to go on. What is not named of the window is all of it.

    ``whole`` is what ``times_of`` returns, ``read_ms`` the moment up to which the log was read.
    """
    begins_ms, ends_ms = (0, 0) if whole is None else whole
    known_ms = max(ends_ms + 1, read_ms)
    since_ms = begins_ms if times[0] is None else times[0]
    until_ms = known_ms if times[1] is None else times[1]
    return Window(since_ms, max(until_ms, since_ms + 1), columns), known_ms


def picture(group: SnapshotGroup, times: tuple[int | None, int | None], read_ms: int, asked: Asked, tools: Tools) -> Picture:
    """Return the picture of a window of time; what is not named of it is all that is known. Raises DamagedLog, DecodeError.

    ``read_ms`` is the moment up to which the log was read.
    """
    reader = group.reader()
    whole = times_of(group.stored, reader.last)
    begins_ms, ends_ms = whole if whole is not None else (None, None)
    window, known_ms = window_of(whole, times, read_ms, asked.columns)
    owned = reader.owners()
    owners = Owners(owned)
    bars = window._replace(columns=max(1, window.columns // BAR))
    counted = density(group.id, group.stored, reader.last, tools.times, bars)
    marks, present = _marks(group, window, tools.words)
    return Picture(
        window.since_ms,
        window.until_ms,
        begins_ms,
        ends_ms,
        known_ms,
        owners.found,
        lanes(owned, owners, window, asked.first_lane, asked.lanes),
        len({(each.topic, each.partition) for each in owned}),
        counted.counts,
        counted.is_exact,
        marks,
        present,
    )


class Asked(Struct):
    """How large a picture is."""

    columns: int = 1000
    first_lane: int = 0
    lanes: int = 60


class Tools(Struct):
    """What pictures are made with."""

    words: Words
    times: Times


def events(group: SnapshotGroup, period: Period, words: Words) -> Events:
    """Return the newest events of a period in words. Raises DamagedLog."""
    found = group.events(period)
    return Events([said(each, words) for each in found.events], found.left_out)


def _marks(group: SnapshotGroup, window: Window, words: Words) -> tuple[Marks, list[Session]]:
    chunks = group.stored.chunks
    count = chunks[-1].shown_before if chunks else 0
    if count > MOST_READ:
        return _marks_of_window(group, window, words)
    everything = group.events(Period()).events
    inside = [each for each in everything if window.since_ms <= each.at_ms < window.until_ms]
    return _marked(inside, window, words), overlapping(sessions(everything), window.since_ms, window.until_ms)


def _marks_of_window(group: SnapshotGroup, window: Window, words: Words) -> tuple[Marks, list[Session]]:
    """Do the same for a group with so many events that only those of the window are read, if they are few enough."""
    inside = [
        after.shown_before - each.shown_before
        for each, after in zip(group.stored.chunks, group.stored.chunks[1:], strict=False)
        if each.first_ms is not None and each.last_ms is not None
        if each.first_ms < window.until_ms and each.last_ms >= window.since_ms
    ]
    if sum(inside) > MOST_READ:
        return Marks(left_out=sum(inside)), []
    found = group.events(Period(window.since_ms, window.until_ms - 1)).events
    return _marked(found, window, words), overlapping(sessions(found), window.since_ms, window.until_ms)


def _marked(inside: Sequence[Event], window: Window, words: Words) -> Marks:
    marked = [each for each in inside if kind_of(each) in _MARKED]
    if len(marked) <= MOST_MARKS:
        return Marks([said(each, words) for each in marked], None, len(marked))
    counts = [0] * window.columns
    for each in marked:
        counts[min(int((each.at_ms - window.since_ms) / window.column_ms), window.columns - 1)] += 1
    return Marks([], counts, len(marked))


def parsed(values: dict[str, Any]) -> Asked:
    """Return the size that a viewer asks for, within bounds."""
    asked = Asked(**values)
    asked.columns = max(1, min(asked.columns, MOST_COLUMNS))
    asked.lanes = max(1, min(asked.lanes, MOST_LANES))
    asked.first_lane = max(0, asked.first_lane)
    return asked
