"""Kafka's error for the peer when storage, and not the operation, says no (``CoordinatorOperationExceptionHelper``)."""

from __future__ import annotations

from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown, Unavailable
from protocol.error_codes import ErrorCode

# Storage trouble reads as NOT_COORDINATOR: the client looks the coordinator up again and retries.
_BY_LOG_ERROR: dict[type[LogError], ErrorCode] = {
    Unavailable: ErrorCode.NOT_COORDINATOR,
    OutcomeUnknown: ErrorCode.NOT_COORDINATOR,
    Fenced: ErrorCode.NOT_COORDINATOR,
}


def error_for(failure: LogError) -> ErrorCode:
    """The code that a parked response fails with."""
    return _BY_LOG_ERROR.get(type(failure), ErrorCode.UNKNOWN_SERVER_ERROR)
