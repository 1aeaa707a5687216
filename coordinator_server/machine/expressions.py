"""Regular expressions of clients, matched in time that is linear in the text, by RE2.

Kafka matches with RE2/J, which has the same syntax. Python's own engine may take exponential time.
"""

from __future__ import annotations

from typing import Final

MAX_LENGTH: Final = 1_000
MAX_MEMORY: Final = 1 << 20
"""Bytes that one compiled expression may take; a larger one is refused."""


class ExpressionError(ValueError):
    """The expression is wrong, or too large."""


class Expression:
    """A compiled expression."""

    def __init__(self, text: str) -> None:
        """Raises ExpressionError."""
        if len(text) > MAX_LENGTH:
            raise ExpressionError(f"longer than {MAX_LENGTH} characters")
        # Most servers never see an expression, and the library takes 5 ms to import.
        import re2

        options = re2.Options()
        options.max_mem = MAX_MEMORY
        options.log_errors = False
        options.never_capture = True
        try:
            self._compiled = re2.compile(text, options)
        except re2.error as wrong:
            reason = wrong.args[0]
            raise ExpressionError(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from None

    def matches(self, text: str) -> bool:
        """Return whether the expression matches the whole text."""
        return self._compiled.fullmatch(text) is not None
