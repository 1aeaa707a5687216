"""What can be wrong with bytes or values.

ProtocolError
├── DecodeError            the peer's (or the log's) bytes are bad
│   ├── Truncated          the bytes end too early: more of them might have been right
│   └── Malformed          no bytes that follow could make it right
├── EncodeError            our value does not fit the message at this version
└── BadJson                a text that a person wrote is not the JSON of a message
"""

from __future__ import annotations


class ProtocolError(Exception):
    """Anything this package raises on purpose."""


class DecodeError(ProtocolError):
    """Bytes that are not what they should be; the attributes say where, as far as that is known."""

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
    """The bytes end before the value does."""


class Malformed(DecodeError):
    """The bytes contradict the format."""


class EncodeError(ProtocolError):
    """A value that cannot be written: out of range, null where null is not allowed, or unknown to this version."""


class BadJson(ProtocolError):
    """JSON that is not what it should be, and where."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"
