"""How a state machine refuses.

    CoordinatorError      the request is refused: carries Kafka's error code for the peer

Anything else that escapes an operation is our own bug: the runtime answers UNKNOWN_SERVER_ERROR and logs it.

Errors of the log mean nothing to a client of the coordinator. ``operation_error`` says what to tell it instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from protocol.error_codes import ErrorCode

# After Kafka's CoordinatorOperationExceptionHelper, and appendGroupMetadataErrorToResponseError, which says the same.
OPERATION_ERRORS: Final[Mapping[ErrorCode, ErrorCode]] = {
    # The transaction coordinator cannot be asked now. Older clients do not know the error, but they know to wait for a load.
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
    """What the client of a coordinator hears when an operation fails with ``error``."""
    return OPERATION_ERRORS.get(error, error)


class CoordinatorError(Exception):
    """A request refused with one of Kafka's error codes."""

    def __init__(self, error: ErrorCode, message: str | None = None) -> None:
        super().__init__(f"{error.name}: {message}" if message else error.name)
        self.error = error
        self.message = message
