"""Time in a simulation: what is to happen, in order. Nothing happens between two events, and nothing waits."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random
from typing import Final

MS: Final = 1000
SECOND: Final = 1000 * MS

Action = Callable[[], None]


class Event:
    """Something that is to happen; ``cancel`` makes it nothing."""

    __slots__ = ("action",)

    def __init__(self, action: Action) -> None:
        self.action: Action | None = action

    def cancel(self) -> None:
        self.action = None


class World:
    """All time is microseconds since the beginning. ``rng`` is the only source of chance."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.now_us = 0
        self._events: list[tuple[int, int, Event]] = []
        self._count = 0

    def at(self, when_us: int, action: Action) -> Event:
        """Have something happen; what was first said of one moment happens first."""
        event = Event(action)
        self._count += 1
        heapq.heappush(self._events, (max(when_us, self.now_us), self._count, event))
        return event

    def after(self, delay_us: int, action: Action) -> Event:
        """Have something happen after a while."""
        return self.at(self.now_us + delay_us, action)

    def run_for(self, duration_us: int) -> None:
        """Let time pass."""
        end = self.now_us + duration_us
        events = self._events
        while events and events[0][0] <= end:
            self.now_us, _, event = heapq.heappop(events)
            if event.action is not None:
                event.action()
        self.now_us = end

    def between(self, least_us: int, most_us: int) -> int:
        """A length of time that is more often short than long."""
        return least_us + int((most_us - least_us) * self.rng.random() ** 3)
