"""Until when this process may answer: its leases, compared with CLOCK_BOOTTIME once per pass over a connection or over due timers.

Writes need no lease: the log accepts them from the owner alone. Reads, writes without records, repeated answers and heartbeats do:
whoever has owned a shard may not know that it has a later owner.

    lease of the shards     it is over: every shard refuses with NOT_COORDINATOR, also messages of other shards, until it is renewed
    lease of the catalog    it is over: ACLs and users may have changed
    either of them          it is over: connections are closed, so a node that is marked dead answers nobody (decision 109)

A process whose shards nobody else can take, and whose catalog waits for it, has no lease that ends, and compares nothing. A machine
that was suspended has spent the time: CLOCK_BOOTTIME goes on, where CLOCK_MONOTONIC stands still.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MARGIN_PARTS: Final = 10
"""Divisor: a lease ends here this part of its length earlier than where it was granted, for clocks that run at different speeds."""
NEVER: Final = 1 << 62
"""The end of a lease that does not end."""
_ENDED: Final = 0


class Lease:
    """One right to answer. ``ends_ms`` is on CLOCK_BOOTTIME. ``ended`` and ``renewed`` are called when it is over, and when it is
    not any more, both with whether it had run out: this process did not end it. The gate is as all leases are by then.
    """

    def __init__(self, gate: Gate, ended: Callable[[bool], None], renewed: Callable[[bool], None]) -> None:
        self.ends_ms = NEVER
        self.is_over = self._is_told = False
        self._has_run_out = False
        self._gate = gate
        self._ended = ended
        self._renewed = renewed

    def end(self) -> None:
        """Let it be over: it is not granted yet, is given back, or is known to be lost."""
        self.ends_ms = _ENDED
        self._gate.look()

    def lift(self) -> None:
        """Let it not end: it is not needed."""
        self.ends_ms = NEVER
        self._gate.look()

    def renew(self, sent_ms: int, lease_ms: int) -> None:
        """Note that a request that was sent at ``sent_ms`` was granted ``lease_ms``. Earlier grants change nothing."""
        ends_ms = sent_ms + lease_ms - lease_ms // MARGIN_PARTS
        if self.ends_ms != NEVER and ends_ms <= self.ends_ms:
            return
        self.ends_ms = ends_ms
        self._gate.look()

    @property
    def is_in_force(self) -> bool:
        """Whether it is not over at this moment. All leases are compared with the clock, as before a pass over a connection."""
        self._gate.look()
        return not self.is_over

    def compare(self, now_ms: int) -> None:
        """Note whether it is over at that time."""
        is_over = now_ms >= self.ends_ms
        if is_over and not self.is_over:
            self._has_run_out = self.ends_ms > _ENDED
        self.is_over = is_over

    def tell(self) -> None:
        """Call what is called when it is over, or not any more, if that has changed."""
        if self._is_told != self.is_over:
            self._is_told = self.is_over
            (self._ended if self.is_over else self._renewed)(self._has_run_out)


class Gate:
    """The leases of a process. ``boot_ms`` reads CLOCK_BOOTTIME."""

    def __init__(self, boot_ms: Callable[[], int]) -> None:
        self.boot_ms = boot_ms
        # Whether a lease ends at all: only then ``is_open`` has to be asked.
        self.is_limited = False
        self._ends_ms = NEVER
        self._is_open = True
        self._leases: list[Lease] = []

    def lease(self, ended: Callable[[bool], None] = lambda _: None, renewed: Callable[[bool], None] = lambda _: None) -> Lease:
        """Return a new lease, which does not end until its first call."""
        lease = Lease(self, ended, renewed)
        self._leases.append(lease)
        return lease

    def is_open(self) -> bool:
        """Return whether requests may be run now. Ask before each pass, and before what continues in a later turn."""
        if self.is_limited and self.boot_ms() >= self._ends_ms:
            self.look()
        return self._is_open

    def look(self) -> None:
        """Compare all leases with the clock, and say what has changed."""
        now_ms = self.boot_ms()
        for lease in self._leases:
            lease.compare(now_ms)
        self.is_limited = any(lease.ends_ms != NEVER for lease in self._leases)
        self._ends_ms = min((lease.ends_ms for lease in self._leases if not lease.is_over), default=NEVER)
        self._is_open = not any(lease.is_over for lease in self._leases)
        for lease in self._leases:
            lease.tell()


def _stands_still() -> int:
    return 0


NO_GATE: Final = Gate(_stands_still)
"""The gate of a process without leases."""
