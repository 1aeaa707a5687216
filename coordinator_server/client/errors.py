"""The errors of this package.

ClientError
├── InvalidSettings           a setting has a value that is not allowed
├── Closed                    the coordinator was closed
├── UnsupportedVersion        the server speaks no version that can carry the request
├── AuthenticationFailed      TLS or SASL refused this client
├── Refused                   the server refused the request, and a retry would not help; ``code`` says why
│   └── FencedInstance        a different member uses this group instance id
├── MembershipLost            this member is no longer in its group: what was assigned to it may belong to others
└── RetriableError            the same call may succeed later
    ├── ConnectionFailed      no connection, or it broke before the answer came
    ├── TimedOut              no answer in time
    ├── Unavailable           the server cannot answer now; ``code`` says why
    └── RebalanceInProgress   the group is rebalancing: call ``ensure_active_group``, then try again

What a callback raises reaches the caller as it is.
"""

from __future__ import annotations

from typing import Final

from protocol.error_codes import ErrorCode

_ADVICE: Final = {
    ErrorCode.INVALID_SESSION_TIMEOUT: ": the session timeout is not between group.min.session.timeout.ms and "
    "group.max.session.timeout.ms of the coordinator",
}


class ClientError(Exception):
    """The base of all errors of this package. ``code`` is the server's error, if it sent one."""

    def __init__(self, reason: str, code: ErrorCode = ErrorCode.NONE) -> None:
        super().__init__(reason)
        self.code = code


class InvalidSettings(ClientError, ValueError):
    """The error that a setting has a value that is not allowed."""


class Closed(ClientError):
    """The error that the coordinator was closed."""


class UnsupportedVersion(ClientError):
    """The error that the server speaks no version that can carry the request."""


class AuthenticationFailed(ClientError):
    """The error that the server refused this client's credentials, or has none that this client trusts."""


class Refused(ClientError):
    """The error that the server refused the request, and that a retry would not help."""


class FencedInstance(Refused):
    """The error that a different member uses the same group instance id."""


class MembershipLost(ClientError):
    """The error that this member is no longer in its group."""


class RetriableError(ClientError):
    """The error that something failed which may succeed later."""


class ConnectionFailed(RetriableError):
    """The error that there is no connection, or that it broke before the answer came."""


class TimedOut(RetriableError):
    """The error that something took too long."""


class Unavailable(RetriableError):
    """The error that the server cannot answer now."""


class RebalanceInProgress(RetriableError):
    """The error that the group is rebalancing."""


def refusal(what: str, code: ErrorCode) -> ClientError:
    """Return the error for a response to ``what`` with this code."""
    reason = f"{what} failed: {code.name}{_ADVICE.get(code, '')}"
    if code is ErrorCode.FENCED_INSTANCE_ID:
        return FencedInstance(reason, code)
    if code is ErrorCode.UNSUPPORTED_VERSION:
        return UnsupportedVersion(reason, code)
    if code is ErrorCode.SASL_AUTHENTICATION_FAILED:
        return AuthenticationFailed(reason, code)
    return (Unavailable if code.is_retriable else Refused)(reason, code)


def known_code(code: int) -> ErrorCode:
    """Return the error of a number. Numbers that Kafka adds later count as UNKNOWN_SERVER_ERROR."""
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR
