"""The loads of a loop's shards: one shard after the other, a few milliseconds in every turn of the loop, which serves clients meanwhile.

One after the other, because a shard answers as soon as it is there: were all of them loaded side by side, the first would be there when
the last one is.
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
    """Runs loads in the order in which they came, step by step, until a turn's time is up; ``soon`` calls back in the loop's next turn."""

    def __init__(self, soon: Soon, clock: Clock) -> None:
        self._soon = soon
        self._clock = clock
        self._loads: deque[Step] = deque()

    def add(self, step: Step) -> None:
        """One more load: ``step`` does a piece of it that takes a millisecond or two, and says whether it was the last one. It raises nothing."""
        self._loads.append(step)
        if len(self._loads) == 1:
            self._soon(self._turn)

    def _turn(self) -> None:
        loads, clock = self._loads, self._clock
        until_ms = clock.now_ms() + TURN_MS
        while loads:
            # It stays in its place while it runs: what it calls may add loads, and those must not begin turns of their own.
            if loads[0]():
                loads.popleft()
            if loads and clock.now_ms() >= until_ms:
                self._soon(self._turn)
                return
