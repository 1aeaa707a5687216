"""The conversation of a mechanism: what the client sends in SaslAuthenticate, and what it gets.

A mechanism is a function that begins a conversation (``mechanisms.py`` has the table). To add one, write its conversation, and give
it a row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol


class Refused(Exception):
    """The client is not who it says. The message is for the client; None gives it a generic one. ``why`` is for the audit log."""

    def __init__(self, message: str | None = None, why: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.why = why


class Rejected(Exception):
    """The client is not who it says, and learns it as an answer (RFC 7628). Its next token is refused with the same text."""

    def __init__(self, message: str, why: str) -> None:
        super().__init__(message)
        self.message = message
        self.why = why


class Undecided(Exception):
    """It cannot be said now who the client is. Its connection closes without an answer, so that it tries again."""


class Conversation(Protocol):
    """One authentication."""

    @property
    def user(self) -> str | None:
        """The user, once it is proved."""

    @property
    def claimed(self) -> str:
        """The user whom the client says it is, for log lines."""

    @property
    def expires_ms(self) -> int | None:
        """When the proof ends, in milliseconds since the epoch; None: it does not."""

    @property
    def credential(self) -> Hashable | None:
        """The credential of the catalog that proved it, because the connection ends when it is removed; None:
        it was the listener's.
        """

    def answer(self, token: bytes, /) -> bytes:
        """Return the answer to a token of the client. Raises Refused."""


Begin = Callable[[], Conversation]
HasUser = Callable[[str], bool]
"""Whether a mechanism whose users are in the properties of its listener has a user of this name."""
