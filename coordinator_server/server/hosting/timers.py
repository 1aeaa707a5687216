"""Runs a TimerQueue on an asyncio loop with one armed handle, and detects when the process was stopped.

CLOCK_MONOTONIC advances while a process is stopped. For each reading of the clock here the expected time is known. If a reading
is late by more than a tick, no request could be received in the meantime, so every timer gets its whole delay again. Every
reading is checked, because a stop may fall between any two readings.

Before due timers fire, the loop reads sockets for two more turns, so that a heartbeat in a socket buffer counts before its
session expires. Timers that become due during these turns wait for the next tick.

Each time before timers fire, the leases are compared with the clock: while one is over no request is answered, so no session ends.

Many timers may be due together: the sessions of all members after a start, the passes of all shards. So a turn fires
``FIRES_PER_TURN`` of them, or as many as fit into ``TURN_MS``, and the loop serves others before it goes on.
"""

from __future__ import annotations

import asyncio

import structlog

from coordinator_server.machine.shard import Clock
from coordinator_server.runtime.lease import NO_GATE, Gate
from coordinator_server.runtime.timers import FIRE_UNITS, TimerQueue

log = structlog.get_logger(__name__)

TICK_MS = 500
FIRES_PER_TURN = 40
TURN_MS = 4
"""What a timer does is not known before, so here the clock is read. An operation that has begun is not interrupted."""


class LoopTimers:
    """Drives ``queue`` until closed. An empty queue costs one wake-up per tick."""

    def __init__(self, loop: asyncio.AbstractEventLoop, queue: TimerQueue, clock: Clock, gate: Gate = NO_GATE) -> None:
        self._loop = loop
        self._queue = queue
        self._clock = clock
        self._gate = gate
        self._expected_ms = 0
        self._handle: asyncio.TimerHandle | None = None
        self._is_closed = False

    def start(self) -> None:
        """Start to tick."""
        self._queue.on_earlier = self._rearm
        self._expected_ms = self._clock.now_ms()
        self._arm()

    def _rearm(self) -> None:
        due = self._queue.next_due()
        if self._handle is not None and due is not None and due < self._expected_ms:
            self._handle.cancel()
            self._arm()

    def skip(self, ms: int) -> None:
        """Accept that the clock was set forward by ``ms``: the process was not stopped, so no timer gets its delay again."""
        self._expected_ms += ms

    def run_due(self) -> None:
        """Fire all due timers at once, without reading the sockets first. For programs that set the clock."""
        self._queue.run(self._look())
        if self._handle is not None:
            self._handle.cancel()
            self._arm()

    def close(self) -> None:
        """Stop ticking."""
        self._is_closed = True
        if self._handle is not None:
            self._handle.cancel()

    def _arm(self) -> None:
        now = self._look()
        due = self._queue.next_due()
        delay = TICK_MS if due is None else max(0, min(due - now, TICK_MS))
        self._expected_ms = now + delay
        self._handle = self._loop.call_later(delay / 1000, self._tick)

    def _tick(self) -> None:
        self._handle = None
        now = self._look()
        self._loop.call_soon(self._loop.call_soon, self._run, now)

    def _run(self, now: int) -> None:
        """Fire the timers that were due at ``now``, in as many turns as they need."""
        if self._is_closed:
            return
        # A lease that has just run out suspends the shards now, whose timers begin again.
        self._gate.is_open()
        until = self._look() + TURN_MS
        is_left = False
        try:
            for _ in range(FIRES_PER_TURN):
                is_left = self._queue.run(now, FIRE_UNITS)
                if not is_left or self._clock.now_ms() >= until:
                    break
        finally:
            # Go on even after an exception, so that a bug in one callback does not stop all timers.
            if is_left:
                self._loop.call_soon(self._run, now)
            else:
                self._arm()

    def _look(self) -> int:
        """Return the time, after checking it for a stop. The next reading is expected at once, unless the caller changes that."""
        now = self._clock.now_ms()
        late_ms = now - self._expected_ms
        if late_ms > TICK_MS:
            log.warning("loop-stood-still", late_ms=late_ms)
            self._queue.grant_fresh_start(now)
        self._expected_ms = now
        return now
