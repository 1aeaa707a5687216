"""Events of a group: what happened, when, by whom, and which offsets it changed. ``group_timeline`` reads them from the log.

Commits follow each other all the time. ``in_runs`` makes one event of those of one client that nothing else has come between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.pipeline.replay.consumer_events import MemberChanges
from coordinator_server.pipeline.states.changes import Change

CREATED: Final = "created"
GENERATION: Final = "generation"
EMPTY: Final = "empty"
KEPT: Final = "kept"
"""A group without offsets, of which only its record is left."""
COMMITTED: Final = "offsets committed"
REFUSED: Final = "commit refused"
NOT_COMMITTED: Final = "offsets not committed"
"""Offsets of a transaction that was aborted: what they would have changed."""
RESET: Final = "offsets reset"
OFFSETS_DELETED: Final = "offsets deleted"
OFFSETS_RESTORED: Final = "offsets restored"
TO_CLASSIC: Final = "converted to the classic protocol"
TO_CONSUMER: Final = "converted to the consumer protocol"
MOST_APART: Final = 5
"""The number of commits in a run that are events of their own; of more there is one event."""
_IN_RUNS: Final = frozenset({COMMITTED, NOT_COMMITTED})


class OffsetChange(Struct, frozen=True):
    """The committed offset of a partition, before and after; None if there is none."""

    topic: str
    partition: int
    before: int | None
    after: int | None


class Client(Struct, frozen=True, omit_defaults=True):
    """Whose member it is, and where it runs."""

    client_id: str
    client_host: str
    group_instance_id: str | None = None


class Event(Struct, omit_defaults=True):
    """Something that happened to a group. ``changes`` are the offsets that it changed; of a run, from the first commit to the last.

    ``after_ms`` is how long the rebalance took that the event ends, or how long the target of an epoch was computed.
    """

    at_ms: int
    what: str
    generation: int | None = None
    members: int | None = None
    changes: tuple[OffsetChange, ...] = ()
    by: Change | None = None
    # Of a consumer group or share group: its epoch, and what a step changes for a member.
    epoch: int | None = None
    member: MemberChanges | None = None
    after_ms: int | None = None
    # Of a share group: the share partitions that are being initialized, are initialized, or are being deleted.
    partitions: tuple[str, ...] = ()
    # Of a generation: the members that the one before did not have, and those that only the one before had. Of an epoch of which
    # no record says why: the members that came and went just before it.
    joined: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    # The clients of the members that the event names, as far as the log has them.
    clients: dict[str, Client] = {}
    # Of a run: the number of commits, and the time of the last one.
    commits: int = 0
    until_ms: int | None = None
    in_transaction: bool = False
    # Of a commit that the running server has refused: the error, which the log does not have.
    error: str = ""


def in_runs(events: Iterable[Event], is_chosen: Callable[[Event], bool] = lambda _: True) -> Iterator[Event]:
    """Return the chosen events, with one for each run of more than MOST_APART commits.

    A run has the commits of one client. It ends with any other event,
    and with the commit of another client to one of its partitions. What is not chosen ends runs, too, and is in none.
    """
    runs = Runs()
    for event in events:
        yield from runs.add(event, is_chosen=is_chosen(event))
    yield from runs.end()


class RunState(Struct, array_like=True, frozen=True):
    """A run that goes on. ``who`` is what its commits have in common, ``first`` those that may be shown apart."""

    what: str
    in_transaction: bool
    who: tuple[str | None, ...]
    first: tuple[Event, ...]
    changes: tuple[OffsetChange, ...]
    commits: int
    until_ms: int


class Runs:
    """The open runs, by client. With ``state``, those of an earlier object. ``breaks`` counts how often all have ended."""

    def __init__(self, state: Iterable[RunState] = ()) -> None:
        self._open: dict[tuple[str, bool, tuple[str | None, ...]], _Run] = {}
        # The run that has last committed each partition.
        self._last: dict[tuple[str, int], _Run] = {}
        self.breaks = 0
        self.absorb(state)

    def add(self, event: Event, *, is_chosen: bool = True) -> list[Event]:
        """Take the next event, and return those that have ended with it."""
        if event.what not in _IN_RUNS:
            return [*self.end(), event] if is_chosen else self.end()
        if self._take(event, is_chosen):
            return []
        found = self.end()
        assert self._take(event, is_chosen)
        return found

    def end(self) -> list[Event]:
        """End all runs, and return their events in the order of time."""
        found = sorted((event for run in self._open.values() for event in run.events()), key=lambda each: each.at_ms)
        self._open, self._last = {}, {}
        self.breaks += 1
        return found

    def state(self) -> tuple[RunState, ...]:
        """Return the runs that go on."""
        return tuple(run.state(*key) for key, run in self._open.items())

    def forget(self) -> None:
        """Leave out of all runs what they have so far."""
        for run in self._open.values():
            run.forget()

    def absorb(self, state: Iterable[RunState]) -> None:
        """Add the commits of later runs, which nothing else has come between."""
        for each in state:
            key = each.what, each.in_transaction, each.who
            run = self._open.setdefault(key, _Run())
            run.absorb(each)
            self._last.update(dict.fromkeys(((change.topic, change.partition) for change in each.changes), run))

    def _take(self, event: Event, is_chosen: bool) -> bool:
        """Add a commit to its client's run; return False if a different run has committed one of its partitions."""
        key = event.what, event.in_transaction, _who(event.by)
        run = self._open.get(key)
        own = (None, run)
        if any(self._last.get((each.topic, each.partition)) not in own for each in event.changes):
            return False
        if run is None:
            run = self._open[key] = _Run()
        if is_chosen:
            run.add(event)
        self._last.update(dict.fromkeys(((each.topic, each.partition) for each in event.changes), run))
        return True


class _Run:
    """Commits of one client."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._first: list[Event] = []
        self._changes: dict[tuple[str, int], OffsetChange] = {}
        self._commits = 0
        self._until_ms = 0

    def add(self, event: Event) -> None:
        """Add the next commit."""
        self._add((event,), event.changes, 1, event.at_ms)

    def absorb(self, state: RunState) -> None:
        """Add later commits."""
        self._add(state.first, state.changes, state.commits, state.until_ms)

    def state(self, what: str, in_transaction: bool, who: tuple[str | None, ...]) -> RunState:
        """Return the run, whose commits have these things in common."""
        changes = tuple(self._changes.values())
        return RunState(what, in_transaction, who, tuple(self._first), changes, self._commits, self._until_ms)

    def events(self) -> list[Event]:
        """Return the commits one by one if they are few, or one event for all."""
        if self._commits <= MOST_APART:
            return self._first
        changes = tuple(self._changes.values())
        return [replace(self._first[0], changes=changes, commits=self._commits, until_ms=self._until_ms)]

    def _add(self, events: Sequence[Event], changes: Iterable[OffsetChange], commits: int, until_ms: int) -> None:
        self._first += events[: MOST_APART - len(self._first)]
        self._commits += commits
        self._until_ms = until_ms
        for each in changes:
            first = self._changes.get((each.topic, each.partition), each)
            # What an aborted transaction would have changed was not changed: the next one begins where it began.
            self._changes[each.topic, each.partition] = replace(first, after=each.after)


def _who(by: Change | None) -> tuple[str | None, ...]:
    """Return what the commits of a run have in common."""
    if by is None:
        return ()
    return by.operation, by.principal, by.client_id, by.client_host, by.member_id, by.group_instance_id
