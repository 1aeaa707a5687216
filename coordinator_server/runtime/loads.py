"""Loads a loop's shards one at a time, for a few milliseconds per turn, so that the loop keeps serving clients.

The loads are sequential because a shard serves requests as soon as it is loaded. With concurrent loads all shards would
become available only at the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from coordinator_server.machine.shard import Clock
from coordinator_server.runtime.flush import Soon

TURN_MS: Final = 4

Step = Callable[[], bool]


class LoadQueue:
    """Runs loads in order of arrival, step by step, until the turn's time is used up.

    ``soon`` calls back in the loop's next turn.
    """

    def __init__(self, soon: Soon, clock: Clock) -> None:
        self._soon = soon
        self._clock = clock
        self._loads: deque[Step] = deque()

    def add(self, step: Step) -> None:
        """Append a load. Each call of ``step`` takes one or two milliseconds and returns whether it was the last.

        ``step`` must not raise.
        """
        self._loads.append(step)
        if len(self._loads) == 1:
            self._soon(self._turn)

    def _turn(self) -> None:
        loads, clock = self._loads, self._clock
        until_ms = clock.now_ms() + TURN_MS
        while loads:
            # A running load stays in the queue: if its callbacks add loads, ``add`` must not schedule another turn.
            if loads[0]():
                loads.popleft()
            if loads and clock.now_ms() >= until_ms:
                self._soon(self._turn)
                return
