"""Times on the command line and in its output."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime
from typing import Final

_DURATION: Final = re.compile(r"(\d+)(ms|s|m|h|d)")
_UNIT_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def moment_ms(text: str) -> int:
    """Parse ``2026-11-20T10:00Z``, or any ISO 8601 time, into ms since 1970; UTC if it has no zone. For argparse."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2026-11-20T10:00Z") from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def duration_ms(text: str) -> int:
    """Parse ``10m``, or another whole number of ms, s, m, h or d, into ms; at least one. For argparse."""
    match = _DURATION.fullmatch(text)
    if match is None or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 90s, 10m or 1h")
    return int(match[1]) * _UNIT_MS[match[2]]


def shown(at_ms: int) -> str:
    """Format ms since 1970, to the millisecond."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
