"""What a check has found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

OK: Final = "ok"
NOTE: Final = "note"
WARNING: Final = "warning"
PROBLEM: Final = "problem"
SEVERITIES: Final = (PROBLEM, WARNING, NOTE, OK)
"""The worst first."""


class Finding(NamedTuple):
    """What a check has found: where, how bad it is, and what to do. ``what`` of OK says what was looked at."""

    severity: str
    check: str
    what: str
    action: str | None = None


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by severity, in their order otherwise."""
    return sorted(findings, key=lambda each: SEVERITIES.index(each.severity))
