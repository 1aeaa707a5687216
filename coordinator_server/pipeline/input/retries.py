"""How long a job asks again while a server starts, stops or loads, or while another job has the data directory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from coordinator_server.pipeline.errors import NotReady

RETRY_S: Final = 30.0
_PAUSE_S: Final = 0.05

R = TypeVar("R")


class Retries:
    """Repeats an attempt that raises NotReady, for up to ``limit_s`` seconds. ``tell`` gets the first such error."""

    def __init__(self, limit_s: float, tell: Callable[[NotReady], None]) -> None:
        self._limit_s = limit_s
        self._tell = tell

    def run(self, attempt: Callable[[], R]) -> R:
        """Return the result of the first attempt that succeeds. Raises the last NotReady."""
        deadline, is_told = time.monotonic() + self._limit_s, False
        while True:
            try:
                return attempt()
            except NotReady as error:
                if time.monotonic() >= deadline:
                    raise
                if not is_told:
                    self._tell(error)
                    is_told = True
            time.sleep(_PAUSE_S)


ONCE: Final = Retries(0.0, lambda _error: None)
