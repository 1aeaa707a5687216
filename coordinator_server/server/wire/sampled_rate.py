"""A rate over the last windows of time, and the wait that brings it back to a limit (Kafka's ``Rate``,
``SampledStat``, ``QuotaUtils``).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Generic, NamedTuple, TypeVar

from coordinator_server.config import Config

K = TypeVar("K", bound=Hashable)

LEAST_WINDOW_MS: Final = 1
MOST_RATES: Final = 10_000
"""Maximum number of rates that are kept. Clients choose the keys."""


class Windows(NamedTuple):
    """How a rate is measured: over ``number`` windows of ``window_ms``, the last of which is not over yet."""

    number: int = 11
    window_ms: int = 1000


def client_windows(config: Config) -> Windows:
    """Return the windows of the quotas of clients and of connections."""
    return Windows(config.quota_window_num, 1000 * config.quota_window_size_seconds)


class _Sample:
    __slots__ = ("last_ms", "start_ms", "value")

    def __init__(self, now_ms: int) -> None:
        self.reset(now_ms)

    def reset(self, now_ms: int) -> None:
        self.start_ms = self.last_ms = now_ms
        self.value = 0.0


class SampledRate:
    """A sum per second. The times that it gets never decrease."""

    __slots__ = ("_current", "_samples", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        # One more than there are windows: a sample may have begun before the first one.
        self._samples: list[_Sample] = []
        self._current = 0

    def record(self, value: float, now_ms: int) -> None:
        """Add a value."""
        samples = self._samples
        if not samples:
            samples.append(_Sample(now_ms))
        sample = samples[self._current]
        if now_ms - sample.start_ms >= self._windows.window_ms:
            sample = self._next(now_ms)
        sample.value += value
        sample.last_ms = now_ms

    def _next(self, now_ms: int) -> _Sample:
        self._current = (self._current + 1) % (self._windows.number + 1)
        if self._current == len(self._samples):
            self._samples.append(_Sample(now_ms))
        else:
            self._samples[self._current].reset(now_ms)
        return self._samples[self._current]

    def wait_ms(self, limit: float, now_ms: int) -> int:
        """Return after how long the rate is at the limit again if nothing is added, and 0 if it is not above it."""
        elapsed_ms = self._elapsed_ms(now_ms)
        rate = 1000 * sum(sample.value for sample in self._samples) / elapsed_ms
        return _rounded((rate - limit) / limit * elapsed_ms) if rate > limit else 0

    def _elapsed_ms(self, now_ms: int) -> int:
        """Return the time that the samples cover. Those that are too old are reset."""
        number, window_ms = self._windows
        oldest_ms = now_ms
        for sample in self._samples:
            if now_ms - sample.last_ms >= number * window_ms:
                sample.reset(now_ms)
            oldest_ms = min(oldest_ms, sample.start_ms)
        elapsed_ms = now_ms - oldest_ms
        missing = number - 1 - elapsed_ms // window_ms
        return max(elapsed_ms + max(missing, 0) * window_ms, LEAST_WINDOW_MS)


class RecentRates(Generic[K]):
    """The rates of up to MOST_RATES keys. The one that was idle for the longest time is dropped for a new one."""

    __slots__ = ("_rates", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        # The least recently used one is the first.
        self._rates: dict[K, SampledRate] = {}

    def __len__(self) -> int:
        return len(self._rates)

    def of(self, key: K) -> SampledRate:
        """Return the rate of a key, which counts as used now."""
        rate = self._rates.pop(key, None)
        if rate is None:
            rate = SampledRate(self._windows)
            if len(self._rates) >= MOST_RATES:
                del self._rates[next(iter(self._rates))]
        self._rates[key] = rate
        return rate


def _rounded(value: float) -> int:
    """Return what Java's ``Math.round`` returns for a positive number."""
    return int(value + 0.5)
