"""A Reply that goes on with something else instead of answering a client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from protocol.error_codes import ErrorCode


class CallbackReply:
    """Calls one of two functions, for the answer or for its lack."""

    __slots__ = ("_completed", "_failed")

    def __init__(self, completed: Callable[[Any], None], failed: Callable[[ErrorCode, str | None], None]) -> None:
        self._completed = completed
        self._failed = failed

    def complete(self, response: Any, /) -> None:
        """Go on with the response."""
        self._completed(response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Go on without one."""
        self._failed(error, message)
