"""A Reply that calls functions instead of answering a client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from protocol.error_codes import ErrorCode


class CallbackReply:
    """A Reply that calls ``completed`` with the response or ``failed`` with the error."""

    __slots__ = ("_completed", "_failed")

    def __init__(self, completed: Callable[[Any], None], failed: Callable[[ErrorCode, str | None], None]) -> None:
        self._completed = completed
        self._failed = failed

    def complete(self, response: Any, /) -> None:
        """Call ``completed``."""
        self._completed(response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Call ``failed``."""
        self._failed(error, message)
