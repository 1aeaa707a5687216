"""How a state machine refuses.

    CoordinatorError      the request is refused: carries Kafka's error code for the peer

Anything else that escapes an operation is our own bug: the runtime answers UNKNOWN_SERVER_ERROR and logs it.
"""

from __future__ import annotations

from protocol.error_codes import ErrorCode


class CoordinatorError(Exception):
    """A request refused with one of Kafka's error codes."""

    def __init__(self, error: ErrorCode, message: str | None = None) -> None:
        super().__init__(f"{error.name}: {message}" if message else error.name)
        self.error = error
        self.message = message
