"""Answers that are long to make: one after another, in a thread of their own. Whoever asks comes back until the answer is there.

A request waits for a moment only, so that long answers keep no other request from its turn. What nobody asks for any longer is
not made.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from functools import partial
from typing import Final, Generic, TypeVar

from coordinator_server.worker import ThreadWorker

WAIT_S: Final = 0.25
"""How long a request waits for its answer."""
FORGOTTEN_S: Final = 10.0
"""A question that nobody has asked for so long is not answered."""
MOST_WAITING: Final = 32
_MOST_KEPT: Final = 16

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class TooMany(Exception):
    """So many questions wait that another one is not taken."""


class Queued(Generic[K, T]):
    """What ``make`` returns for questions. Any thread may ask."""

    def __init__(self, make: Callable[[K], T], clock: Callable[[], float] = time.monotonic) -> None:
        self._make = make
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: OrderedDict[K, Future[T]] = OrderedDict()
        self._asked_s: dict[K, float] = {}
        self._worker = ThreadWorker(_goes_on)

    def get(self, question: K) -> T | None:
        """Return an answer; None if it is not there yet. Raises what ``make`` has raised, and TooMany."""
        with self._lock:
            answer = self._answers.get(question)
            if answer is None and sum(not each.done() for each in self._answers.values()) >= MOST_WAITING:
                raise TooMany
            self._asked_s[question] = self._clock()
            if answer is None:
                answer = self._answers[question] = Future()
                self._worker.run(partial(self._work, question, answer))
            self._answers.move_to_end(question)
        wait([answer], WAIT_S)
        if not answer.done():
            return None
        if answer.cancelled() or answer.exception() is not None:
            self._forget(question, answer)
        return None if answer.cancelled() else answer.result()

    def _work(self, question: K, answer: Future[T]) -> None:
        if self._clock() - self._asked_s[question] > FORGOTTEN_S:
            answer.cancel()
            self._forget(question, answer)
            return
        try:
            answer.set_result(self._make(question))
        except Exception as error:  # noqa: BLE001 - whoever waits for the answer gets the error
            answer.set_exception(error)
        with self._lock:
            done = [each for each, other in self._answers.items() if other.done()]
        for each in done[:-_MOST_KEPT]:
            self._forget(each, self._answers[each])

    def _forget(self, question: K, answer: Future[T]) -> None:
        with self._lock:
            if self._answers.get(question) is answer:
                del self._answers[question], self._asked_s[question]


def _goes_on() -> None:
    """Do nothing at the end of the thread: no job of it raises."""
