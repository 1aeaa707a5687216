"""What is received of requests that cannot be handled yet: bounded over all connections, in bytes and in time.

A request that arrives in one piece and is handled at once is not counted, so the usual read pays nothing for this.

If the bytes exceed their bound, connections are closed: of those that hold at least half of the average, the one that has made no
progress for the longest time is the first. A connection that sends nothing in the middle of a request is closed after a while. Time is counted in
sweeps, not read from a clock.
"""

from __future__ import annotations

from typing import Final, Protocol

from coordinator_server.server.incidents import Incidents

# After this number of bytes, requests that have been handled since are no longer counted.
RECOUNT_BYTES: Final = 1 << 16


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

    def unhandled_bytes(self) -> int:
        """Return the number of bytes received of requests that are not handled. Slow while many wait."""

    def abort(self) -> None:
        """Close at once."""


class _Held:
    """The bytes of one connection, an upper bound of them, and when it made progress."""

    __slots__ = ("since_recount", "size", "sweep")

    def __init__(self) -> None:
        self.size = self.since_recount = self.sweep = 0


class Receiving:
    """The requests that the connections of a loop are receiving. Without ``max_bytes`` only their time is bounded."""

    def __init__(self, max_bytes: int | None, stalled_sweeps: int, incidents: Incidents) -> None:
        self.bytes = 0
        self._max_bytes = max_bytes
        self._stalled_sweeps = stalled_sweeps
        self._incidents = incidents
        self._sweep = 0
        # In the order of their last progress.
        self._held: dict[Receiver, _Held] = {}

    def allow(self, stalled_sweeps: int) -> None:
        """Let connections send nothing for so many sweeps in the middle of a request, counted from now on."""
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
        self._count(held, size)
        if not size:
            return False
        held.sweep = self._sweep
        self._held[connection] = held
        if self._max_bytes is not None and self.bytes > self._max_bytes:
            self._shed(self._max_bytes)
        return True

    def ended(self, connection: Receiver) -> None:
        """Forget a connection that has ended, unless a request of it goes on."""
        held = self._held.get(connection)
        if held is not None:
            self._count(held, connection.unhandled_bytes())
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

    def _shed(self, most: int) -> None:
        """Close connections until the bytes are within their bound."""
        self._recount()
        while self.bytes > most:
            # Those that hold little are not at fault.
            least = self.bytes / len(self._held) / 2
            connection = next(connection for connection, held in self._held.items() if held.size >= least)
            self._incidents.report(
                "request-shed",
                peer=connection.peer,
                why=f"requests that are received or wait take more than queued.max.request.bytes={most}",
                action="the connection without progress for the longest time is closed; raise the limit if there is memory",
            )
            self._close(connection)

    def _close(self, connection: Receiver) -> None:
        self._count(self._held.pop(connection), 0)
        connection.abort()

    def _recount(self) -> None:
        """Forget the requests that have been handled since their connections' last reads."""
        for connection, held in list(self._held.items()):
            if not connection.has_waiting:
                self._count(held, connection.unhandled_bytes())
                if not held.size:
                    del self._held[connection]

    def _count(self, held: _Held, size: int) -> None:
        self.bytes += size - held.size
        held.size = size
