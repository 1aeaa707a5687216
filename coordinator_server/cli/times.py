"""Times on the command line and in its output."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime


def moment_ms(text: str) -> int:
    """Parse ``2026-11-20T10:00Z``, or any ISO 8601 time, into ms since 1970; UTC if it has no zone. For argparse."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2026-11-20T10:00Z") from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def shown(at_ms: int) -> str:
    """Format ms since 1970, to the millisecond."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
