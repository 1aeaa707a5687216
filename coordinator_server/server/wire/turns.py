"""The loop's time, shared between connections.

    pass     a connection's requests, run as they come, until its quantum is used up
    step     the next pass of a connection that was stopped or was expensive, or the next part of one long request
    turn     what the loop does between two looks at its sockets: the passes of those that sent something, and a few steps

Steps wait in one queue, first come, first served. A connection that sends little never waits behind them. Work is counted
(``quantum.py``) and not measured by a clock: that costs nothing, and simulated time stands still within a turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from coordinator_server.runtime.lease import NO_GATE, Gate

STEPS_PER_TURN: Final = 4
"""A step takes about 2 ms, and never more than 20 ms."""

Step: TypeAlias = Callable[[], None]
"""Does a part of some work, and queues the next part itself."""


class Turns:
    """The queue of a loop's steps. ``soon`` is the loop's ``call_soon``; ``gate`` says whether requests may be run."""

    def __init__(self, soon: Callable[[Callable[[], None]], object], gate: Gate = NO_GATE) -> None:
        self._soon = soon
        self.gate = gate
        self._queue: deque[Step] = deque()
        self._is_scheduled = False

    @property
    def is_busy(self) -> bool:
        """Whether steps wait."""
        return bool(self._queue)

    def queue(self, step: Step) -> None:
        """Run ``step`` once, in a later turn."""
        self._queue.append(step)
        self._schedule()

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._soon(self._turn)

    def _turn(self) -> None:
        queue, self._is_scheduled = self._queue, False
        # A long request that goes on reads what may have a later owner by now.
        if self.gate.is_limited:
            self.gate.look()
        try:
            for _ in range(min(len(queue), STEPS_PER_TURN)):
                queue.popleft()()
        finally:
            if queue:
                self._schedule()
