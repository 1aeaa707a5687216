"""The errors that a state machine raises.

    CoordinatorError      the request is refused: carries Kafka's error code for the peer

Any other exception from an operation is our own bug: the runtime logs it and answers UNKNOWN_SERVER_ERROR.

Errors of the log mean nothing to a client of the coordinator. ``operation_error`` translates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from protocol.error_codes import ErrorCode
from protocol.wire import MAX_STRING

# From Kafka's CoordinatorOperationExceptionHelper; appendGroupMetadataErrorToResponseError has the same mapping.
OPERATION_ERRORS: Final[Mapping[ErrorCode, ErrorCode]] = {
    # The transaction coordinator is unreachable. Older clients do not know this error, but they retry after a load in progress.
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


def operation_error(error: ErrorCode) -> ErrorCode:
    """Return the error code that a coordinator's client gets when an operation fails with ``error``."""
    return OPERATION_ERRORS.get(error, error)


def fitting(text: str) -> str:
    """Return the text, or as much of it as a string of Kafka's protocol may have: messages and lists of names can be longer."""
    raw = text.encode() if len(text) > MAX_STRING // 4 else b""
    return text if len(raw) <= MAX_STRING else raw[:MAX_STRING].decode(errors="ignore")


class CoordinatorError(Exception):
    """A refusal of a request, with one of Kafka's error codes. The message fits into a response."""

    def __init__(self, error: ErrorCode, message: str | None = None) -> None:
        super().__init__(f"{error.name}: {message}" if message else error.name)
        self.error = error
        self.message = message and fitting(message)
