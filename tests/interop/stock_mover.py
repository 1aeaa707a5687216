"""A producer of a library that moves offsets in transactions, and is killed or stopped itself in the midst of them."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from typing import Final, NamedTuple

from tests.interop.crew import Refused
from tests.interop.transactional import ProducerProcess
from tests.support.mover import TOPIC, Given, Moved, Outcome

UNKNOWN_PRODUCER: Final = (-1, -1)
# Between two faults of a producer.
FAULT_AFTER_S: Final = (1, 10)
# A call takes a few milliseconds: a fault that is so late is in the midst of it, now and then.
LATE_S: Final = 0.02
LAST_CALL_S: Final = 10
# On a loaded machine a library may take long to begin.
ENDING_S: Final = 60
# Some stops are longer than the timeout of a transaction.
STOPPED_S: Final = (0.1, 3)


class Work(NamedTuple):
    """What one producer moves: some of ``groups`` in each transaction, and those that it moves without being asked."""

    transactional_id: str
    position: int
    groups: Sequence[str]
    own_groups: Sequence[str]
    make: Callable[[], ProducerProcess]


class StockMover(threading.Thread):
    """A producer, made anew when it has failed or was killed. ``faults`` has how often it was killed and stopped."""

    def __init__(self, work: Work, offsets: count[int], chance: random.Random) -> None:
        super().__init__(daemon=True)
        self.moved: list[Moved] = []
        self.given: list[Given] = []
        self.faults: Counter[str] = Counter()
        self._is_over = threading.Event()
        self._producer: ProducerProcess | None = None
        self._work = work
        self._offsets = offsets
        self._chance = chance
        self._next_fault_s = time.monotonic() + chance.uniform(*FAULT_AFTER_S) / 2

    def run(self) -> None:
        while not self._is_over.is_set():
            producer = self._producer = self._work.make()
            try:
                producer.call("init")
                while not self._is_over.is_set():
                    self._move(producer)
            except Refused:
                time.sleep(0.1)
            finally:
                producer.close()

    def end(self) -> None:
        """Wait for the end of its transaction, but not long."""
        self._is_over.set()
        self.join(LAST_CALL_S)
        until_s = time.monotonic() + ENDING_S
        while self.is_alive() and time.monotonic() < until_s:
            # It may just be making another one.
            if self._producer is not None:
                self._producer.kill()
            self.join(1)
        assert not self.is_alive()

    def _move(self, producer: ProducerProcess) -> None:
        chance, work = self._chance, self._work
        groups = chance.sample(work.groups, chance.randint(1, 3))
        all_groups = [*groups, *work.own_groups]
        moved = Moved(work.transactional_id, UNKNOWN_PRODUCER, next(self._offsets), all_groups, time.monotonic_ns() // 1000)
        self.moved.append(moved)
        producer.call("begin")
        try:
            for group in groups:
                self._hurt(producer)
                producer.call("offsets", [group, TOPIC, {str(work.position): moved.offset}])
        except Refused:
            producer.call("abort")
            moved.outcome = Outcome.ABORTED
            return
        is_commit = chance.random() < 0.75
        if is_commit:
            moved.outcome = Outcome.UNKNOWN
        self._hurt(producer)
        is_committed = producer.call("commit" if is_commit else "abort") is not False and is_commit
        moved.outcome = Outcome.COMMITTED if is_committed else Outcome.ABORTED

    def _hurt(self, producer: ProducerProcess) -> None:
        """When it is time, kill the producer, or stop it for a while: at once, or in the midst of the next call."""
        chance = self._chance
        if time.monotonic() < self._next_fault_s:
            return
        self._next_fault_s = time.monotonic() + chance.uniform(*FAULT_AFTER_S)
        is_killed = chance.random() < 0.5
        self.faults["client killed" if is_killed else "client stopped"] += 1
        late_s = chance.choice((0, chance.uniform(0, LATE_S)))
        _after(late_s, lambda: producer.send_signal(signal.SIGKILL if is_killed else signal.SIGSTOP))
        if not is_killed:
            _after(late_s + chance.uniform(*STOPPED_S), lambda: producer.send_signal(signal.SIGCONT))


def _after(seconds: float, run: Callable[[], None]) -> None:
    if seconds:
        timer = threading.Timer(seconds, run)
        timer.daemon = True
        timer.start()
    else:
        run()
