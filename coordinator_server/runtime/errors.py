"""What a parked response fails with when the log, and not the operation, says no: the error that Kafka's log has for it.

It reaches the operation's ``on_append`` and its reply as it is. What the peer is told instead is each API's own table
(``machine/errors.py`` has the one that nearly all share).
"""

from __future__ import annotations

from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown, Unavailable
from protocol.error_codes import ErrorCode


class TooLarge(Exception):
    """The records of one operation do not fit into one batch."""


_BY_FAILURE: dict[type[Exception], ErrorCode] = {
    Unavailable: ErrorCode.KAFKA_STORAGE_ERROR,
    # It may or may not be there, as with a write that was not replicated in time.
    OutcomeUnknown: ErrorCode.REQUEST_TIMED_OUT,
    Fenced: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    TooLarge: ErrorCode.MESSAGE_TOO_LARGE,
}


def error_for(failure: LogError | TooLarge) -> ErrorCode:
    """The error of a failed append."""
    return _BY_FAILURE.get(type(failure), ErrorCode.UNKNOWN_SERVER_ERROR)
