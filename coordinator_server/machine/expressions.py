"""Regular expressions of clients, matched in time that is linear in the text, by RE2.

Kafka matches with RE2/J, which has the same syntax. Python's own engine may take exponential time.
"""

from __future__ import annotations

from typing import Final

MAX_LENGTH: Final = 1_000
MAX_MEMORY: Final = 1 << 20
"""Bytes that one compiled expression may take; a larger one is refused."""


# What RE2/J says where RE2 says this.
_DESCRIPTIONS: Final = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid UTF-8": "invalid escape sequence",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
    "unexpected )": "regexp/syntax: internal error",
}
# RE2/J takes a look-behind for a name that does not end.
_NAME_BEGINS: Final = "invalid perl operator: (?<"


class ExpressionError(ValueError):
    """The expression is wrong, or too large. ``description`` is what Kafka says of it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        kind = reason.partition(": ")[0]
        self.description = "invalid named capture" if reason.startswith(_NAME_BEGINS) else _DESCRIPTIONS.get(kind, kind)


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
            # As bytes of UTF-8, which are what it matches: with texts the package takes three times as long.
            self._compiled = re2.compile(text.encode(), options)
        except re2.error as wrong:
            reason = wrong.args[0]
            raise ExpressionError(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from None

    def matches(self, text: str) -> bool:
        """Return whether the expression matches the whole text."""
        return self._compiled.fullmatch(text.encode()) is not None
