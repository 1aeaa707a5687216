"""The errors of deferred responses whose append failed: the codes that Kafka's log uses for the same failures.

The operation's ``on_append`` and its reply get this code unchanged. Each API translates it for the peer with its own table;
``machine/errors.py`` has the table that most APIs share.
"""

from __future__ import annotations

from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown, Unavailable
from protocol.error_codes import ErrorCode


class TooLarge(Exception):
    """The error that the records of one operation do not fit into one batch."""


_BY_FAILURE: dict[type[Exception], ErrorCode] = {
    Unavailable: ErrorCode.KAFKA_STORAGE_ERROR,
    # The records may or may not be written, as with a write that was not replicated in time.
    OutcomeUnknown: ErrorCode.REQUEST_TIMED_OUT,
    Fenced: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    TooLarge: ErrorCode.MESSAGE_TOO_LARGE,
}


def error_for(failure: LogError | TooLarge) -> ErrorCode:
    """Return the error code of a failed append."""
    return _BY_FAILURE.get(type(failure), ErrorCode.UNKNOWN_SERVER_ERROR)
