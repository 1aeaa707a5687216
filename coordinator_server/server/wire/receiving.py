"""What is received of requests that cannot be handled yet: bounded over all connections, in bytes and in time.

A request that arrives in one piece and is handled at once is not counted, so the usual read pays nothing for this.

While there is room, a connection may hold as much as it wants. If the bytes exceed their bound, connections are closed, the one
that holds the most first. Those whose login is not done have a part of the bound for themselves, and are closed before all
others. One that is authenticated and waits for the server is not closed: it is not read until its requests have been handled. A
connection that sends nothing in the middle of a request is closed after a while.
Time is counted in sweeps, not read from a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Final, NamedTuple, Protocol

from coordinator_server.server.wire.incidents import Incidents

# After this number of bytes, requests that have been handled since are no longer counted.
RECOUNT_BYTES: Final = 1 << 16
# Strangers that fill their part are closed down to this part of it: looking at all of them for each read would be work for nothing.
KEPT_OF_STRANGERS: Final = 0.75


class Receiver(Protocol):
    """A connection."""

    @property
    def peer(self) -> str:
        """The peer's address, for log lines."""

    @property
    def is_reading(self) -> bool:
        """Whether bytes of the peer are read at the moment."""

    @property
    def is_mid_request(self) -> bool:
        """Whether the last request has not arrived completely."""

    @property
    def has_waiting(self) -> bool:
        """Whether requests that have arrived completely wait."""

    @property
    def is_stranger(self) -> bool:
        """Whether its login is not done."""

    @property
    def is_owed(self) -> bool:
        """Whether it is authenticated and waits for the server."""

    def unhandled_bytes(self) -> int:
        """Return the number of bytes received of requests that are not handled. Slow while many wait."""

    def hold_back(self) -> None:
        """Read nothing until the requests that wait have been handled."""

    def abort(self) -> None:
        """Close at once."""


class Bounds(NamedTuple):
    """The most bytes in all, and of connections whose login is not done."""

    all: int
    strangers: int


class _Held:
    """The bytes of one connection, an upper bound of them, and when it made progress."""

    __slots__ = ("is_stranger", "since_recount", "size", "sweep")

    def __init__(self) -> None:
        self.size = self.since_recount = self.sweep = 0
        self.is_stranger = False


class Receiving:
    """The requests that the connections of a loop are receiving. Without ``bounds`` only their time is bounded."""

    def __init__(self, bounds: Bounds | None, stalled_sweeps: int, incidents: Incidents) -> None:
        self.bytes = self.bytes_of_strangers = 0
        self._bounds = bounds
        self._stalled_sweeps = stalled_sweeps
        self._incidents = incidents
        self._sweep = 0
        # In the order of their last progress.
        self._held: dict[Receiver, _Held] = {}

    def allow(self, stalled_sweeps: int) -> None:
        """Set for how many sweeps, counted from now on, a connection may pause in the middle of a request."""
        self._stalled_sweeps = stalled_sweeps
        for held in self._held.values():
            held.sweep = self._sweep

    def received(self, connection: Receiver, partial: int, read: int) -> bool:
        """Count a read of ``read`` bytes, which left ``partial`` bytes of an incomplete request.

        Return whether the connection is to report its next reads, too.
        """
        held = self._held.pop(connection, None) or _Held()
        size = partial
        if connection.has_waiting:
            held.since_recount += read
            if held.since_recount < RECOUNT_BYTES:
                size = max(held.size + read, partial)
            else:
                held.since_recount = 0
                size = connection.unhandled_bytes()
        self._count(connection, held, size)
        if not size:
            return False
        held.sweep = self._sweep
        self._held[connection] = held
        bounds = self._bounds
        if bounds is not None and (self.bytes > bounds.all or self.bytes_of_strangers > bounds.strangers):
            self._shed(bounds)
        return True

    def ended(self, connection: Receiver) -> None:
        """Forget a connection that has ended, unless a request of it goes on."""
        held = self._held.get(connection)
        if held is not None:
            self._count(connection, held, connection.unhandled_bytes())
            if not held.size:
                del self._held[connection]

    def sweep(self) -> None:
        """Close the connections that have sent nothing for too many sweeps in the middle of a request."""
        self._sweep += 1
        self._recount()
        for connection, held in list(self._held.items()):
            if not connection.is_reading or not connection.is_mid_request:
                # It waits for the server, and not the server for it.
                held.sweep = self._sweep
            elif self._sweep - held.sweep > self._stalled_sweeps:
                self._incidents.report(
                    "request-stalled",
                    peer=connection.peer,
                    why="a part of a request, and then no byte for socket.request.stalled.after.ms",
                    action="the connection is closed",
                )
                self._close(connection)

    def _shed(self, bounds: Bounds) -> None:
        """Close connections until the bytes are within their bounds."""
        self._recount()
        if self.bytes_of_strangers > bounds.strangers:
            least = int(bounds.strangers * KEPT_OF_STRANGERS)
            self._shed_strangers(lambda: self.bytes_of_strangers > least, bounds)
        if self.bytes > bounds.all:
            self._shed_strangers(lambda: self.bytes > bounds.all, bounds)
        if self.bytes > bounds.all:
            self._shed_others(bounds)

    def _shed_strangers(self, goes_on: Callable[[], bool], bounds: Bounds) -> None:
        for connection in self._largest(lambda connection, held: held.is_stranger):
            if not goes_on():
                return
            self._incidents.report(
                "login-shed",
                peer=connection.peer,
                why=f"logins that are received take more than {bounds.strangers} bytes, or all requests more than {bounds.all}",
                action="of the connections that are not authenticated, those with the most bytes are closed",
            )
            self._close(connection)

    def _shed_others(self, bounds: Bounds) -> None:
        for connection in self._largest(lambda connection, held: not connection.is_owed):
            if self.bytes <= bounds.all:
                return
            self._incidents.report(
                "request-shed",
                peer=connection.peer,
                why=f"requests that are received or wait take more than queued.max.request.bytes={bounds.all}",
                action="the connection with the most bytes is closed; raise the limit if there is memory",
            )
            self._close(connection)
        if self.bytes > bounds.all:
            for connection in self._held:
                connection.hold_back()

    def _largest(self, is_meant: Callable[[Receiver, _Held], bool]) -> list[Receiver]:
        """Return the connections that are meant.

        Of those that hold as much, the one without progress for the longest time is first.
        """
        meant = [(connection, held.size) for connection, held in self._held.items() if is_meant(connection, held)]
        return [connection for connection, _ in sorted(meant, key=itemgetter(1), reverse=True)]

    def _close(self, connection: Receiver) -> None:
        self._count(connection, self._held.pop(connection), 0)
        connection.abort()

    def _recount(self) -> None:
        """Forget the requests that have been handled since their connections' last reads."""
        for connection, held in list(self._held.items()):
            size = held.size if connection.has_waiting else connection.unhandled_bytes()
            self._count(connection, held, size)
            if not held.size:
                del self._held[connection]

    def _count(self, connection: Receiver, held: _Held, size: int) -> None:
        self.bytes += size - held.size
        if held.is_stranger:
            self.bytes_of_strangers -= held.size
        held.is_stranger = connection.is_stranger
        if held.is_stranger:
            self.bytes_of_strangers += size
        held.size = size
