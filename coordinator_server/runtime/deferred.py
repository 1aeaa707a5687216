"""Responses that wait until the records they depend on are durable (Kafka's ``DeferredEventQueue``)."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import DEFERRED, Reply
from coordinator_server.runtime.callback_reply import CallbackReply
from protocol.error_codes import ErrorCode


class DeferredEvent:
    """A callback and a response that wait until the records before ``offset`` are durable or have failed.

    With a deadline, the response does not wait longer than that (``deadlines.py``). ``on_overdue`` is the result's.
    """

    __slots__ = ("has_deadline", "offset", "on_append", "on_overdue", "reply", "response")

    def __init__(
        self,
        offset: int,
        reply: Reply[Any] | None,
        response: object = DEFERRED,
        on_append: Callable[[ErrorCode | None], None] | None = None,
        has_deadline: bool = False,
        on_overdue: Callable[[], int] | None = None,
    ) -> None:
        self.offset = offset
        self.reply = reply
        self.response = response
        self.on_append = on_append
        self.has_deadline = has_deadline
        self.on_overdue = on_overdue

    def complete(self) -> None:
        """Call ``on_append``, then send the response. Called when the records are durable."""
        if self.on_append is not None:
            self.on_append(None)
        if self.reply is not None and self.response is not DEFERRED:
            self.reply.complete(self.response)

    def fail(self, error: ErrorCode) -> None:
        """Call ``on_append`` with the error, then send the error. Called after the state has been reverted.

        ``on_append`` answers a DEFERRED response itself.
        """
        if self.on_append is not None:
            self.on_append(error)
        if self.reply is not None and self.response is not DEFERRED:
            self.reply.fail(error)


class DeferredEventQueue:
    """Events ordered by offset, then by arrival."""

    __slots__ = ("_events", "_marks")

    def __init__(self) -> None:
        self._events: deque[DeferredEvent] = deque()
        # The last event at each of the last calls of ``age``.
        self._marks: deque[DeferredEvent | None] = deque()

    def add(self, event: DeferredEvent) -> None:
        """Insert an event. Nearly always it belongs at the end."""
        events = self._events
        if not events or events[-1].offset <= event.offset:
            events.append(event)
        else:
            insort(events, event, key=attrgetter("offset"))

    def take_up_to(self, offset: int) -> list[DeferredEvent]:
        """Remove and return the events whose offset is at most ``offset``."""
        events = self._events
        if events and events[-1].offset <= offset:
            # The common case: all events.
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

    def age(self, ticks: int) -> list[DeferredEvent]:
        """Return the events with a deadline that were parked before the last ``ticks`` calls of this. They stay in the queue."""
        events, marks = self._events, self._marks
        marks.append(events[-1] if events else None)
        oldest = marks.popleft() if len(marks) > ticks else None
        if oldest is None or oldest not in events:
            return []
        overdue = []
        for event in events:
            if event.has_deadline:
                overdue.append(event)
            if event is oldest:
                break
        return overdue


def refusing(reply: Reply[Any], refused: CoordinatorError) -> CallbackReply:
    """Return a Reply whose completion refuses the request: the state that the refusal is about is durable then."""
    error, message = refused.error, refused.message
    return CallbackReply(lambda _: reply.fail(error, message), reply.fail)
