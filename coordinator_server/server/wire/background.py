"""Slow pure functions beside the loop: decoding large requests, and encoding large responses, in one thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from coordinator_server.worker import Worker
from protocol.errors import ProtocolError

T = TypeVar("T")


class Background:
    """Runs functions one after another in a thread.

    The loop goes on: the interpreter switches between both every few milliseconds.
    """

    def __init__(
        self, worker: Worker, post: Callable[[Callable[[], None]], object], now_ns: Callable[[], int] = time.thread_time_ns
    ) -> None:
        """Use ``now_ns`` in the thread for the processor time that it has taken."""
        self._worker = worker
        self._post = post
        self._now_ns = now_ns
        self.calls = 0
        """The functions that wait, run, or have run without the loop being notified."""

    def run(self, function: Callable[[], T], done: Callable[[T | Exception, int], None]) -> None:
        """Call ``function`` in the thread, then ``done`` on the loop with its result or its exception,
        and its processor time in ns.

        The function must not use anything that the loop may change meanwhile.
        """
        self.calls += 1
        self._worker.run(partial(self._call, function, done))

    def close(self) -> None:
        """Drop the functions that wait."""
        self._worker.close()

    def _call(self, function: Callable[[], T], done: Callable[[T | Exception, int], None]) -> None:
        result: T | Exception
        began_ns = self._now_ns()
        try:
            result = function()
        except ProtocolError as error:
            # With its traceback it would be a cycle, and keep the request in memory until the collector runs.
            result = error.with_traceback(None)
        except Exception as error:  # noqa: BLE001 - it is the result
            result = error
        self._post(partial(self._tell, done, result, self._now_ns() - began_ns))

    def _tell(self, done: Callable[[T | Exception, int], None], result: T | Exception, took_ns: int) -> None:
        self.calls -= 1
        done(result, took_ns)
