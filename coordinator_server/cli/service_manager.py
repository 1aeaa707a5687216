"""Notifications to systemd and other service managers, and what they pass to the server: the protocol of ``sd_notify(3)``.

    NOTIFY_SOCKET     READY=1 when all groups are loaded, STATUS= with the progress until then, RELOADING=1, STOPPING=1
    WATCHDOG_USEC     WATCHDOG=1 from the event loop, three times in this time: a server that hangs is ended
    LISTEN_FDS        sockets that listen already (socket activation): clients wait in them while the server is restarted

The variables are removed from the environment, so that no child takes them for its own.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, MutableMapping
from typing import Final

from coordinator_server.server.errors import StartError

FIRST_SOCKET: Final = 3
# What comes once has to arrive. What is repeated is dropped while the manager does not read.
PATIENCE_S: Final = 2.0
_EVERY_S: Final = 1.0
# How much longer a load may take, each time that there is progress to tell.
_MORE_US: Final = 60_000_000
_SIGNS_PER_WATCHDOG: Final = 3


class ServiceManager:
    """The service manager that started this process; without one nothing is sent."""

    def __init__(self, environment: MutableMapping[str, str], pid: int | None = None) -> None:
        own = str(os.getpid() if pid is None else pid)
        self._address = environment.pop("NOTIFY_SOCKET", "")
        watched = environment.pop("WATCHDOG_PID", own) == own
        usec = environment.pop("WATCHDOG_USEC", "")
        self.watchdog_s = int(usec) / 1e6 if watched and usec.isdecimal() else 0.0
        for_us = environment.pop("LISTEN_PID", "") == own
        count = environment.pop("LISTEN_FDS", "")
        environment.pop("LISTEN_FDNAMES", None)
        self._sockets = int(count) if for_us and count.isdecimal() else 0
        self._is_ready = False
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def inherited(self) -> list[socket.socket]:
        """Return the sockets that were passed. Raises StartError for one that is not a TCP socket."""
        found = []
        for fd in range(FIRST_SOCKET, FIRST_SOCKET + self._sockets):
            try:
                passed = socket.socket(fileno=fd)
            except OSError as error:
                raise StartError(f"the service manager passes descriptor {fd}, which is no socket: {error.strerror}") from None
            passed.set_inheritable(False)
            found.append(passed)
            if passed.family not in (socket.AF_INET, socket.AF_INET6) or passed.type != socket.SOCK_STREAM:
                raise StartError(f"the service manager passes descriptor {fd}, which is no TCP socket: check ListenStream=")
        return found

    def begin(self, status: Callable[[], str]) -> None:
        """Report the status every second, and notify the watchdog. Call it on the event loop."""
        if self._address:
            self._repeat("status", _EVERY_S, lambda: self._tell_status(status()))
        if self._address and self.watchdog_s:
            self._repeat("watchdog", self.watchdog_s / _SIGNS_PER_WATCHDOG, lambda: self.tell("WATCHDOG=1", patience_s=0.0))

    def ready(self, status: str) -> None:
        """All groups are loaded."""
        self._is_ready = True
        self.tell("READY=1", f"STATUS={status}")

    def reloading(self) -> None:
        """Properties and certificates are read again; ``reloaded`` follows."""
        self.tell("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def reloaded(self) -> None:
        """The reload is over, whatever came of it: the log has that."""
        if self._is_ready:
            self.tell("READY=1")

    def stopping(self) -> None:
        """The server stops."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self.tell("STOPPING=1", "STATUS=stopping")

    def tell(self, *assignments: str, patience_s: float = PATIENCE_S) -> None:
        """Send assignments in one message. What cannot be delivered is dropped: the server works without its manager.

        A manager that is busy has a short queue, and is waited for.
        """
        if not self._address:
            return
        # A name in the abstract namespace begins with "@" in the variable and with a zero byte in the kernel.
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sending:
                sending.settimeout(patience_s)
                sending.sendto("\n".join(assignments).encode(), address)
        except OSError:
            return

    def _tell_status(self, status: str) -> None:
        more = () if self._is_ready else (f"EXTEND_TIMEOUT_USEC={_MORE_US}",)
        self.tell(f"STATUS={status}", *more, patience_s=0.0)

    def _repeat(self, name: str, every_s: float, call: Callable[[], None]) -> None:
        def again() -> None:
            self._timers[name] = asyncio.get_running_loop().call_later(every_s, again)
            call()

        again()
