"""What clients have asked the cluster to keep, and what it told them of each."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class Outcome(Enum):
    """What a client was told. Of a commit whose outcome is unknown the cluster may have a record, now or later."""

    DONE = "done"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class Place(NamedTuple):
    """Where a group's positions are: offsets of one place are committed one after the other."""

    group: str
    partition: int


class Entry(NamedTuple):
    """A commit."""

    offset: int
    outcome: Outcome


class Ledger:
    """The commits of each place, in the order in which they were made. For many threads."""

    def __init__(self) -> None:
        self._entries: dict[Place, list[Entry]] = defaultdict(list)
        self._lock = threading.Lock()
        self._next: dict[Place, int] = defaultdict(int)

    def next_offset(self, place: Place) -> int:
        """Return an offset that was not committed there yet."""
        with self._lock:
            self._next[place] += 1
            return self._next[place]

    def note(self, place: Place, offset: int, outcome: Outcome) -> None:
        """Note a commit that has ended."""
        with self._lock:
            self._entries[place].append(Entry(offset, outcome))

    def entries(self) -> Mapping[Place, list[Entry]]:
        """Return what was noted so far."""
        with self._lock:
            return {place: [*entries] for place, entries in self._entries.items()}

    def counts(self) -> dict[str, int]:
        """Return the number of commits by outcome."""
        found = {each.value: 0 for each in Outcome}
        for entries in self.entries().values():
            for each in entries:
                found[each.outcome.value] += 1
        return found
