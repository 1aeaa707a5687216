"""Whether the log still takes submits: not after a failed sync, and not after ``close``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from coordinator_server.log.errors import LogError, OutcomeUnknown, Unavailable
from coordinator_server.worker import Post

T = TypeVar("T")


class Health:
    """The state of one log. After the first failed sync every submit is refused with that error."""

    def __init__(self, data_dir: str, post: Post) -> None:
        self.failure: OutcomeUnknown | None = None
        self.is_closed = False
        self._data_dir = data_dir
        self._post = post
        self._on_failure: Callable[[OutcomeUnknown], None] = lambda _error: None

    def refusal(self) -> LogError | None:
        """The error that a submit gets at once; None while submits are taken."""
        return Unavailable("the log is closed") if self.is_closed else self.failure

    def fail(self, error: OutcomeUnknown) -> None:
        """Refuse every submit from now on, and call back on the loop. Any thread may call this."""
        self.failure = error
        self._post(partial(self._on_failure, error))

    def when_failed(self, on_failure: Callable[[OutcomeUnknown], None]) -> None:
        """Set what ``fail`` calls on the loop."""
        self._on_failure = on_failure

    def attempt(self, work: Callable[[], T]) -> T | LogError:
        """Do slow work in the worker's thread. Return its result, or the error; a failed sync fails the log."""
        try:
            return work()
        except OutcomeUnknown as error:
            self.fail(error)
            return error
        except OSError as error:
            return Unavailable(f"cannot write to {self._data_dir}: {error}")
