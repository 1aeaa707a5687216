"""An answer that is work to make, and stays right for a while: made once for all viewers, and again when it is old."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Aged(Generic[T]):
    """What ``make`` returns, at most ``longest_s`` old. Any thread may ask; others wait for the one that makes it."""

    def __init__(self, make: Callable[[], T], longest_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._make = make
        self._longest_s = longest_s
        self._clock = clock
        self._lock = Lock()
        self._kept: list[T] = []
        self._made_s = 0.0

    def get(self) -> T:
        """Return the answer. Raises what ``make`` raises."""
        with self._lock:
            if not self._kept or self._clock() - self._made_s > self._longest_s:
                self._kept = [self._make()]
                self._made_s = self._clock()
            return self._kept[0]
