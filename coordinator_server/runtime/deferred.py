"""Responses parked until the log has what they rest on (Kafka's ``DeferredEventQueue``)."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from coordinator_server.machine.shard import DEFERRED, Reply
from protocol.error_codes import ErrorCode


class DeferredEvent:
    """What happens once the records before ``offset`` are durable, or never will be."""

    __slots__ = ("offset", "on_append", "reply", "response")

    def __init__(
        self,
        offset: int,
        reply: Reply[Any] | None,
        response: object = DEFERRED,
        on_append: Callable[[ErrorCode | None], None] | None = None,
    ) -> None:
        self.offset = offset
        self.reply = reply
        self.response = response
        self.on_append = on_append

    def complete(self) -> None:
        """The records are durable: soft state follows, then the response leaves."""
        if self.on_append is not None:
            self.on_append(None)
        if self.reply is not None and self.response is not DEFERRED:
            self.reply.complete(self.response)

    def fail(self, error: ErrorCode) -> None:
        """The records are gone and the state has been reverted. A DEFERRED response stays the business of ``on_append``."""
        if self.on_append is not None:
            self.on_append(error)
        if self.reply is not None and self.response is not DEFERRED:
            self.reply.fail(error)


class DeferredEventQueue:
    """Events in order of their offsets; those of one offset in order of arrival."""

    __slots__ = ("_events",)

    def __init__(self) -> None:
        self._events: deque[DeferredEvent] = deque()

    def __len__(self) -> int:
        return len(self._events)

    def add(self, event: DeferredEvent) -> None:
        """Park an event. Nearly always it belongs at the end."""
        events = self._events
        if not events or events[-1].offset <= event.offset:
            events.append(event)
        else:
            insort(events, event, key=attrgetter("offset"))

    def take_up_to(self, offset: int) -> list[DeferredEvent]:
        """Remove and return the events whose offset is at most ``offset``."""
        events = self._events
        if events and events[-1].offset <= offset:
            # Nearly always that is all of them.
            taken = list(events)
            events.clear()
            return taken
        taken = []
        while events and events[0].offset <= offset:
            taken.append(events.popleft())
        return taken

    def take_after(self, offset: int) -> list[DeferredEvent]:
        """Remove and return, in order, the events whose offset is greater than ``offset``."""
        taken = []
        while self._events and self._events[-1].offset > offset:
            taken.append(self._events.pop())
        return taken[::-1]
