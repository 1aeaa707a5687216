"""Time in a simulation: what is to happen, in order. Nothing happens between two events, and nothing waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from random import Random
from typing import Any, Final

MS: Final = 1000
SECOND: Final = 1000 * MS

Action = Callable[[], None]


class Event(list[Any]):
    """Something that is to happen: when, its place among all events, and the action. ``cancel`` makes it nothing.

    It is a list, so that the heap compares events without a call: a play has a hundred thousand.
    """

    __slots__ = ()

    @property
    def action(self) -> Action | None:
        action: Action | None = self[2]
        return action

    def cancel(self) -> None:
        self[2] = None


class World:
    """All time is microseconds since the beginning. ``rng`` is the only source of chance."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.now_us = 0
        self._events: list[Event] = []
        self._count = 0

    def at(self, when_us: int, action: Action) -> Event:
        """Have something happen; what was first said of one moment happens first."""
        self._count += 1
        event = Event((max(when_us, self.now_us), self._count, action))
        heappush(self._events, event)
        return event

    def after(self, delay_us: int, action: Action) -> Event:
        """Have something happen after a while."""
        return self.at(self.now_us + delay_us, action)

    def run_for(self, duration_us: int) -> None:
        """Let time pass."""
        end = self.now_us + duration_us
        events = self._events
        while events and events[0][0] <= end:
            self.now_us, _, action = heappop(events)
            if action is not None:
                action()
        self.now_us = end

    def pass_together(self, waits: Sequence[Iterator[int]]) -> None:
        """Let time pass as each of them says, in us, until it has nothing more to wait for."""
        due = [(self.now_us, number, each) for number, each in enumerate(waits)]
        while due:
            at_us, number, each = heappop(due)
            self.run_for(at_us - self.now_us)
            wait_us = next(each, None)
            if wait_us is not None:
                heappush(due, (self.now_us + wait_us, number, each))

    def between(self, least_us: int, most_us: int) -> int:
        """A length of time that is more often short than long."""
        return least_us + int((most_us - least_us) * self.rng.random() ** 3)
