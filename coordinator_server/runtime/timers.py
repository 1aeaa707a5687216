"""One queue for the timers of all shards of a loop, without I/O: the caller passes the time and gets the next due time.

Re-arming is the hot case: every heartbeat moves its session's deadline. A timer that moves later therefore only stores its
new deadline; its heap entry is corrected when the old deadline is reached. The entry of a cancelled timer is dropped then too.

While the process is stopped (SIGSTOP, a suspended machine) it cannot receive requests: ``grant_fresh_start`` then gives every
armed timer its whole delay again. So does ``release``: a process that starts holds the timers of its shards until it can be asked.

The client of a timer that is armed again was silent since it was armed. Long silences are noted for whoever measures them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable
from typing import Any, Final

from coordinator_server.machine.shard import Clock, CoordinatorResult
from coordinator_server.runtime.silences import UNMEASURED, ShardSilences
from protocol.error_codes import ErrorCode

TimerOperation = Callable[[], CoordinatorResult[Any]]

_SMALL_HEAP = 64
LEAST_DELAY_MS: Final = 100
"""Between two expiries of a timer whose shard is suspended."""
ALL: Final = 1 << 60
FIRE_UNITS: Final = 100
"""The work of an operation that a timer runs, such as the end of a session, as deadlines that have moved."""


class Timer:
    """One armed timer and the operation to run when it expires."""

    __slots__ = ("deadline", "delay_ms", "due", "fire", "heard_ms", "key", "operation", "owner", "retry_ms")

    def __init__(self, owner: dict[Hashable, Timer], key: Hashable, fire: Fire) -> None:
        self.owner = owner
        self.key = key
        self.fire = fire
        self.operation: TimerOperation
        self.delay_ms = self.deadline = self.retry_ms = 0
        self.due = -1  # the time of its live heap entry; another entry of this timer is stale
        self.heard_ms = -1  # when its client was last heard of without arming it; since then it waits for us


Fire = Callable[[Timer], None]


class TimerQueue:
    """A heap of timers. All times are milliseconds of server-running time."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Timer]] = []
        self._pushed = 0
        self._live = 0
        self._floor = -1
        # Whether shards let no timer expire, because nobody can be heard yet.
        self.is_held = False
        # Called when a timer is due before all other timers.
        self.on_earlier: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return self._live

    def next_due(self) -> int | None:
        """Return when to call ``run`` next, or None without timers. It is possible that no timer is due then."""
        return self._heap[0][0] if self._heap else None

    def run(self, now_ms: int, units: int = ALL) -> bool:
        """Fire each due timer once, in order of deadlines. Return whether some are left, because ``units`` of work are done.

        A timer that fires takes ``FIRE_UNITS``, and one whose deadline has moved a unit of about a microsecond.
        """
        heap = self._heap
        while heap and heap[0][0] <= now_ms:
            if units <= 0:
                return True
            units -= 1
            due, _, timer = heapq.heappop(heap)
            if timer.due != due:
                continue
            deadline = self.deadline(timer)
            if deadline > now_ms:
                self._push(timer, deadline)
                continue
            units -= FIRE_UNITS
            self.discard(timer)
            timer.fire(timer)
        return False

    def grant_fresh_start(self, now_ms: int) -> None:
        """Restart every armed timer with its whole delay, because no request could be received until now."""
        self._floor = now_ms

    def hold(self) -> None:
        """Let no timer of a shard expire until ``release``."""
        self.is_held = True

    def release(self, now_ms: int) -> None:
        """Let timers of shards expire: clients can be heard from now on."""
        self.is_held = False
        self.grant_fresh_start(now_ms)

    def arm(self, timer: Timer, now_ms: int, delay_ms: int) -> None:
        """Set the deadline of a timer that is in its owner's table."""
        timer.delay_ms = delay_ms
        timer.deadline = deadline = now_ms + delay_ms
        if timer.due < 0:
            self._live += 1
            self._push(timer, deadline)
        elif deadline < timer.due:
            self._push(timer, deadline)

    def discard(self, timer: Timer) -> None:
        """Disarm a timer. Its heap entry becomes stale."""
        timer.owner.pop(timer.key, None)
        timer.due = -1
        self._live -= 1
        if len(self._heap) > max(_SMALL_HEAP, 4 * self._live):
            self._heap[:] = [entry for entry in self._heap if entry[2].due == entry[0]]
            heapq.heapify(self._heap)

    def deadline(self, timer: Timer) -> int:
        """Return when an armed timer fires."""
        # The deadline of a timer that was armed after the fresh start is later than that of its delay from there.
        return max(timer.deadline, self._floor + timer.delay_ms)

    def _push(self, timer: Timer, due: int) -> None:
        timer.due = due
        self._pushed += 1
        heapq.heappush(self._heap, (due, self._pushed, timer))
        if self._heap[0][0] == due:
            self.on_earlier()


class ShardTimers:
    """The CoordinatorTimer of one shard. ``fire`` is called with each timer that expires.

    A timer with a retry interval fires until its operation succeeds: the ``fire`` callback reports each outcome to ``fired``.
    Between expiry and that report the timer does not count as scheduled. Cancelling or scheduling its key ends the retries.

    ``silences`` gets each time of at least ``silences.least_ms`` between two armings, or before the timer is cancelled. It does not
    if the second one ends earlier than the first: so does the session of a new client, which has waited for us.
    """

    __slots__ = ("_clock", "_expiring", "_fire", "_queue", "_silences", "_silent_ms", "_timers")

    def __init__(self, queue: TimerQueue, clock: Clock, fire: Fire, silences: ShardSilences = UNMEASURED) -> None:
        self._queue = queue
        self._clock = clock
        self._fire = fire
        self._silences = silences
        self._silent_ms = silences.least_ms
        self._timers: dict[Hashable, Timer] = {}
        self._expiring: dict[Hashable, Timer] = {}

    def schedule(self, key: Hashable, delay_ms: int, operation: TimerOperation, /, retry_ms: int = 0) -> None:
        """Arm or re-arm the timer of ``key``."""
        timer = self._timers.get(key)
        if timer is None:
            timer = self._timers[key] = Timer(self._timers, key, self._expire)
            self._expiring.pop(key, None)
        timer.operation = operation
        timer.retry_ms = retry_ms
        now_ms = self._clock.now_ms()
        if 0 <= timer.due <= now_ms + delay_ms:
            # ``arm``, inlined for the common case: a deadline that moves later.
            if now_ms - timer.deadline + timer.delay_ms >= self._silent_ms:
                self._note(timer, now_ms)
            timer.delay_ms = delay_ms
            timer.deadline = now_ms + delay_ms
        else:
            self._queue.arm(timer, now_ms, delay_ms)

    def begin_again(self, timer: Timer) -> None:
        """Arm a timer that has expired once more, with its whole delay."""
        self.schedule(timer.key, max(timer.delay_ms, LEAST_DELAY_MS), timer.operation, timer.retry_ms)

    def cancel(self, key: Hashable, /) -> None:
        """Disarm the timer of ``key``. Do nothing if it has none."""
        self._expiring.pop(key, None)
        timer = self._timers.get(key)
        if timer is not None:
            self._cancel(timer)

    def heard(self, key: Hashable, /) -> None:
        """Note a sign of life that does not arm the timer of ``key`` again: its client waits for us from now on."""
        timer = self._timers.get(key)
        if timer is not None:
            now_ms = self._clock.now_ms()
            self._note(timer, now_ms)
            timer.heard_ms = now_ms

    def is_scheduled(self, key: Hashable, /) -> bool:
        """Return whether a timer is armed under ``key``."""
        return key in self._timers

    def left_ms(self, key: Hashable, /) -> int | None:
        """Return how long it is until the timer of ``key`` fires, or None."""
        timer = self._timers.get(key)
        return None if timer is None else max(0, self._queue.deadline(timer) - self._clock.now_ms())

    def cancel_all(self) -> None:
        """Disarm all timers. Called when the shard is unloaded."""
        self._expiring.clear()
        for timer in list(self._timers.values()):
            self._cancel(timer)
        self._silences.end()

    def fired(self, timer: Timer, error: ErrorCode | None) -> None:
        """Report the outcome of an expiry: None if its records are durable, otherwise the error.

        A failed expiry is retried, unless its key was cancelled or scheduled since.
        """
        if self._expiring.get(timer.key) is not timer:
            return
        if error is None:
            del self._expiring[timer.key]
        else:
            self.schedule(timer.key, timer.retry_ms, timer.operation, timer.retry_ms)

    def _note(self, timer: Timer, now_ms: int) -> None:
        """Note the silence of a timer's client that ends now, if it was a long one, and the client did not wait for us."""
        since_ms = timer.deadline - timer.delay_ms
        if now_ms - since_ms >= self._silent_ms and since_ms >= timer.heard_ms:
            self._silences.note(timer.key, since_ms, now_ms)

    def _cancel(self, timer: Timer) -> None:
        self._note(timer, self._clock.now_ms())
        self._queue.discard(timer)
        # Its heap entry may stay for a long time, and must not keep what the timer was for.
        timer.key, timer.operation = None, _cancelled

    def _expire(self, timer: Timer) -> None:
        if timer.retry_ms:
            self._expiring[timer.key] = timer
        self._fire(timer)


def _cancelled() -> CoordinatorResult[Any]:
    raise AssertionError("a cancelled timer has expired")
