"""Who may answer from a replica of the catalog, and for whom a change has to wait.

    attached ──link lost, or too slow──► away ──attaches again──► attached
                                           └── its process has ended, or its lease ──► not waited for

A loop that is away may still serve clients, with the ACLs and users that it knows. Between the loops of one machine it has no
lease: the supervisor says when its process has ended, and kills one that is silent. A node has a lease, which it renews over its
link; the time until its end is that of CLOCK_BOOTTIME here. A new controller waits for all that may have one from the former.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, NamedTuple, Protocol

from coordinator_server.runtime.lease import NEVER

UNKNOWN: Final = 0
"""The incarnation of a process that is expected, and of which no more is known."""


class Follower(Protocol):
    """A different loop, from the view of the catalog's owner. A later process of the loop has a greater ``incarnation``."""

    @property
    def loop(self) -> int:
        """The loop's number."""

    @property
    def incarnation(self) -> int:
        """The number of the loop's process."""

    def start_over(self) -> None:
        """Announce that the whole log follows, from its first record on."""

    def publish(self, batch: bytes, next_offset: int, /) -> None:
        """Send a durable batch. ``next_offset`` is the offset after it."""

    def drop(self) -> None:
        """Close the connection."""


class Leasing(NamedTuple):
    """For how long followers may answer without the owner. ``boot_ms`` reads CLOCK_BOOTTIME; 0 ms is without an end.

    ``may_grant`` is whether this node may still be the owner: the next one does not wait for leases of later.
    """

    boot_ms: Callable[[], int] = lambda: 0
    lease_ms: int = 0
    may_grant: Callable[[], bool] = lambda: True


class _Process(NamedTuple):
    loop: int
    incarnation: int


class _Attached:
    __slots__ = ("acknowledged", "until_ms")

    def __init__(self, acknowledged: int) -> None:
        self.acknowledged = acknowledged
        self.until_ms = NEVER


class Followers:
    """All followers of the catalog's owner. ``expected`` are those that may serve although they have not attached yet."""

    def __init__(self, expected: Collection[int], leasing: Leasing) -> None:
        self._leasing = leasing
        self._attached: dict[Follower, _Attached] = {}
        # Until when processes may answer that are not attached. Several of a node may live: a former one is frozen elsewhere.
        self._away: dict[_Process, int] = {}
        # The incarnations of each loop that have ended. One of a node may have ended before an earlier one: it died when it had
        # asked to join, and its row came later than that of its successor.
        self._ended: dict[int, set[int]] = {}
        self.expect(expected)

    def __iter__(self) -> Iterator[Follower]:
        """Yield those that are attached."""
        return iter(list(self._attached))

    def __bool__(self) -> bool:
        return bool(self._attached)

    def expect(self, loops: Collection[int]) -> None:
        """Wait for loops that may serve clients and have not attached. Those whose end has been reported meanwhile are not.

        A mapping has their incarnations, as far as they are known.
        """
        incarnations = loops if isinstance(loops, Mapping) else dict.fromkeys(loops, UNKNOWN)
        for loop, incarnation in incarnations.items():
            ended = self._ended.get(loop, ())
            if incarnation not in ended and not (incarnation == UNKNOWN and ended):
                self._away[_Process(loop, incarnation)] = self._lease_end()

    def attach(self, follower: Follower, next_offset: int) -> int:
        """Wait for a loop from now on, which has the records before ``next_offset``. Return the length of its lease in ms."""
        self._attached[follower] = _Attached(next_offset)
        for away in [away for away in self._away if self._is_back(away, follower)]:
            del self._away[away]
        return self.grant(follower)

    def grant(self, follower: Follower) -> int:
        """Grant a lease from now on. Return its length in ms; 0 if it does not end, and -1 if the loop is not attached."""
        attached = self._attached.get(follower)
        if attached is None:
            return -1
        attached.until_ms = self._lease_end()
        return self._leasing.lease_ms

    def acknowledge(self, follower: Follower, next_offset: int) -> bool:
        """Note that a loop has all records before an offset. Return whether it is attached."""
        attached = self._attached.get(follower)
        if attached is not None:
            attached.acknowledged = next_offset
        return attached is not None

    def detach(self, follower: Follower) -> bool:
        """Note that a loop's link is lost. Return whether it was attached."""
        attached = self._attached.pop(follower, None)
        if attached is None:
            return False
        process = _Process(follower.loop, follower.incarnation)
        is_back = any(self._is_back(process, other) for other in self._attached)
        if not is_back and process.incarnation not in self._ended.get(process.loop, ()):
            self._away[process] = attached.until_ms
        return True

    def ended(self, loop: int, incarnation: int) -> None:
        """Note that a process of a loop has ended: it no longer serves."""
        self._ended.setdefault(loop, set()).add(incarnation)
        for known in (UNKNOWN, incarnation):
            self._away.pop(_Process(loop, known), None)

    def unaware(self, offset: int) -> list[int]:
        """Return the loops that may answer although they have not acknowledged the records before ``offset``."""
        now_ms = self._leasing.boot_ms()
        for process in [process for process, until_ms in self._away.items() if until_ms <= now_ms]:
            del self._away[process]
        slow = [each.loop for each, attached in self._attached.items() if attached.acknowledged < offset]
        return sorted({*slow, *(process.loop for process in self._away)})

    def overdue(self, offset: int) -> list[Follower]:
        """Return the attached ones whose lease is over, and that have not acknowledged the records before ``offset``."""
        now_ms = self._leasing.boot_ms()
        return [each for each, known in self._attached.items() if known.acknowledged < offset and known.until_ms <= now_ms]

    def _is_back(self, away: _Process, attached: Follower) -> bool:
        """Whether nobody has to wait for a process, because of one that is attached.

        On one machine a former process has ended when a later one is there. That of a node may be frozen elsewhere.
        """
        if away.loop != attached.loop:
            return False
        return away.incarnation == attached.incarnation if self._leasing.lease_ms else away.incarnation <= attached.incarnation

    def _lease_end(self) -> int:
        return self._leasing.boot_ms() + self._leasing.lease_ms if self._leasing.lease_ms else NEVER
