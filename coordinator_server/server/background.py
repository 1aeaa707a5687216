"""Slow pure functions beside the loop: decoding large requests, and encoding large responses, in one thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from coordinator_server.log.write.worker import Worker
from protocol.errors import ProtocolError

T = TypeVar("T")


class Background:
    """Runs functions one after another in a thread. The loop goes on: the interpreter switches between both every few milliseconds."""

    def __init__(self, worker: Worker, post: Callable[[Callable[[], None]], object]) -> None:
        self._worker = worker
        self._post = post
        self.calls = 0
        """The functions that wait, run, or have run and not been told to the loop."""

    def run(self, function: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
        """Call ``function`` in the thread, then ``done`` on the loop with its result or its exception.

        The function must not use anything that the loop may change meanwhile.
        """
        self.calls += 1
        self._worker.run(partial(self._call, function, done))

    def close(self) -> None:
        """Drop the functions that wait."""
        self._worker.close()

    def _call(self, function: Callable[[], T], done: Callable[[T | Exception], None]) -> None:
        result: T | Exception
        try:
            result = function()
        except ProtocolError as error:
            # With its traceback it would be a cycle, and keep the request in memory until the collector runs.
            result = error.with_traceback(None)
        except Exception as error:  # noqa: BLE001 - it is the result
            result = error
        self._post(partial(self._tell, done, result))

    def _tell(self, done: Callable[[T | Exception], None], result: T | Exception) -> None:
        self.calls -= 1
        done(result)
