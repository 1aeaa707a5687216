"""The errors of this package.

ProtocolError
├── DecodeError            the peer's (or the log's) bytes are invalid
│   ├── Truncated          the bytes end too early; more bytes could make them valid
│   └── Malformed          no further bytes could make them valid
├── EncodeError            our value does not fit the message in this version
└── BadJson                a text written by a person is not the JSON of a message
"""

from __future__ import annotations


class ProtocolError(Exception):
    """The base of all errors that this package raises."""


class DecodeError(ProtocolError):
    """The error that bytes are invalid. The attributes have the location, as far as it is known."""

    def __init__(
        self,
        reason: str,
        *,
        message: str | None = None,
        version: int | None = None,
        path: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(reason, message, version, path, position)
        self.reason = reason
        self.message = message
        self.version = version
        self.path = path
        self.position = position

    def __str__(self) -> str:
        name = self.message or ""
        if self.version is not None:
            name += f" v{self.version}"
        if self.path is not None:
            name += f" {self.path}"
        where = "" if self.position is None else f" at byte {self.position}"
        return f"{name}: {self.reason}{where}" if name else self.reason + where


class Truncated(DecodeError):
    """The error that the bytes end before the value does."""


class Malformed(DecodeError):
    """The error that the bytes violate the format."""


class EncodeError(ProtocolError):
    """The error that a value cannot be encoded: out of range, null where not allowed, or not in this version."""


class BadJson(ProtocolError):
    """The error that JSON is invalid, with its location."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"
