"""Leases without the store's clock: each node measures on its own CLOCK_BOOTTIME, which goes on in a suspended machine.

    owner   ├ sends a renewal          it may answer for lease - margin from then on ┤
    store          ├ the renewal is there
    taker             ├ has read it        it waits for lease from then on                ┤ marks dead, then takes

The taker's wait begins after the owner's does, and is longer by the margin (``runtime/lease.py``), which covers clocks of different
speeds. All times are in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from coordinator_server.log.members import Member, Table


class Clocks(NamedTuple):
    """The clocks of a node in ms: CLOCK_BOOTTIME, and the time of day."""

    boot_ms: Callable[[], int]
    wall_ms: Callable[[], int]


class LeaseTimes(NamedTuple):
    """The times of leases in ms: how long one is, how often it is renewed, and how often a node looks at the rows.

    The last is how long a shard may wait for its next owner after it was released.
    """

    lease_ms: int = 10_000
    renew_ms: int = 2_000
    look_ms: int = 250

    @classmethod
    def of(cls, lease_ms: int, renew_ms: int) -> LeaseTimes:
        """Return the times of properties: a lease is renewed at least three times in its length."""
        renew_ms = min(renew_ms, lease_ms // 3)
        return cls(lease_ms, renew_ms, min(cls().look_ms, renew_ms))

    @property
    def silence_ms(self) -> int:
        """The longest time between two answers of the store that counts as one observation of others."""
        return self.lease_ms // 2


class _Seen(NamedTuple):
    renewals: int
    since_ms: int


class Silence:
    """For how long the renewals of other members have not changed, as far as the store has answered all the time."""

    def __init__(self, times: LeaseTimes) -> None:
        self._times = times
        self._seen: Mapping[Member, _Seen] = {}
        self._read_ms = 0

    def observe(self, table: Table, now_ms: int) -> None:
        """Note what was read. ``now_ms`` is the time at which the answer has arrived."""
        if now_ms - self._read_ms > self._times.silence_ms:
            # While the store does not answer this node, it may not answer others either: their silence means nothing.
            self._seen = {}
        self._read_ms = now_ms
        before = self._seen
        self._seen = {
            member: known if (known := before.get(member)) and known.renewals == row.renewals else _Seen(row.renewals, now_ms)
            for member, row in table.members.items()
            if not row.is_dead
        }

    def over(self, now_ms: int) -> Iterator[tuple[Member, int]]:
        """Yield the members that have been silent for a whole lease, with their renewals."""
        for member, (renewals, since_ms) in self._seen.items():
            if now_ms - since_ms >= self._times.lease_ms:
                yield member, renewals
