"""What is known now: a version of the answers, how old it is, and the viewers that wait for the next one."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.page.rights import EVERYTHING, Rights

MOST_CHANGED: Final = 200
"""The most changed groups that a status names."""


class Status(Struct, frozen=True):
    """A version. ``as_of_ms`` is the moment up to which the log was read; 0 if nothing was.

    ``changed`` are the groups that differ from the version before; None if there are too many to name. ``unread`` counts the
    groups whose summaries are older than the index. ``problem`` says why the answers are not those of the present, if they are not.
    """

    version: int = 0
    as_of_ms: int = 0
    is_served: bool = False
    changed: list[str] | None = []
    unread: int = 0
    reading: str = ""
    problem: str = ""


def _seen(status: Status, rights: Rights) -> Status:
    """Return what a viewer may know of a status: problems name files."""
    if rights is EVERYTHING:
        return status
    changed = None if status.changed is None else [each for each in status.changed if rights.may_see(each, ())]
    if rights.has_cluster:
        return replace(status, changed=changed)
    return replace(status, changed=changed, reading=status.reading and "the log", problem=status.problem and _PROBLEM)


_PROBLEM: Final = "the log cannot be read now"


class Board:
    """The status of one process. ``publish`` may be called by any thread; the rest is for that of the event loop."""

    def __init__(self) -> None:
        self.status = Status()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next: asyncio.Event | None = None
        self._number = 0
        self._events: dict[Rights, bytes] = {}
        self.viewers = 0

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to wake those that wait in an event loop."""
        self._loop, self._next = loop, asyncio.Event()
        self._tell()

    def publish(self, **changes: Any) -> None:
        """Change the status."""
        before, self.status = self.status, replace(self.status, **changes)
        if before == self.status:
            return
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell)

    async def after(self, number: int, within_s: float) -> int:
        """Wait for status after those with a number, and return theirs; the same number if there are none in time."""
        if self._number == number:
            assert self._next is not None
            try:
                await asyncio.wait_for(self._next.wait(), within_s)
            except TimeoutError:
                return number
        return self._number

    def event(self, rights: Rights) -> bytes:
        """Return the status as an event, as far as a viewer may see it."""
        if rights not in self._events:
            self._events[rights] = b"data: %s\n\n" % msgspec.json.encode(_seen(self.status, rights))
        return self._events[rights]

    def _tell(self) -> None:
        assert self._next is not None
        self._number += 1
        self._events = {}
        self._next.set()
        self._next = asyncio.Event()
