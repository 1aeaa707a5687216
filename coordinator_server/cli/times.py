"""Times on the command line and in its output."""

from __future__ import annotations

import argparse
import re
import time
from datetime import UTC, datetime
from typing import Final

_DURATION: Final = re.compile(r"(\d+)(ms|s|m|h|d)")
_AGO: Final = re.compile(r"(\d+(?:ms|s|m|h|d))[ -]?ago")
_CLOCK: Final = re.compile(r"(?:(today|yesterday)[ -]?)?(\d{1,2}:\d\d(?::\d\d)?)")
_UNIT_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DAY_MS: Final = _UNIT_MS["d"]

MOMENT: Final = "2026-11-20T10:00Z, 13:40, 'yesterday 22:00', '5m ago', now; UTC without a zone"
"""How a moment may be written, for the help of options."""


def moment_ms(text: str, now_ms: int | None = None) -> int:
    """Parse a moment into ms since 1970; what has no zone is UTC. For argparse.

    It is any ISO 8601 time, ``now``, ``5m ago`` (or s, h, d), ``13:40``, the last one before now, or ``yesterday 22:00``.
    """
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    words = text.strip().lower()
    if words == "now":
        return now_ms
    try:
        if ago := _AGO.fullmatch(words):
            return _after_1970(now_ms - duration_ms(ago[1]))
        if clock := _CLOCK.fullmatch(words):
            return _at_clock(clock[1], clock[2], now_ms)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as {MOMENT}") from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def past_ms(text: str, now_ms: int | None = None) -> int:
    """Parse a moment whose state is asked for: one that has not come has none yet. For argparse."""
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    at_ms = moment_ms(text, now_ms)
    if at_ms > now_ms:
        raise argparse.ArgumentTypeError(f"{text!r} is in the future: {shown(at_ms)}, and now it is {shown(now_ms)}")
    return at_ms


def _after_1970(at_ms: int) -> int:
    if at_ms < 0:
        raise ValueError(at_ms)
    return at_ms


def _at_clock(day: str | None, clock: str, now_ms: int) -> int:
    """Return the moment of a time of day. Raises ValueError if no day has it."""
    hours, minutes, seconds, *_ = [*map(int, clock.split(":")), 0]
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(clock)
    midnight_ms = now_ms - now_ms % _DAY_MS
    at_ms = midnight_ms + ((hours * 60 + minutes) * 60 + seconds) * 1000
    is_yesterday = day == "yesterday" or (day is None and at_ms > now_ms)
    return at_ms - _DAY_MS if is_yesterday else at_ms


def duration_ms(text: str) -> int:
    """Parse ``10m``, or another whole number of ms, s, m, h or d, into ms; at least one. For argparse."""
    match = _DURATION.fullmatch(text)
    if match is None or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 90s, 10m or 1h")
    return int(match[1]) * _UNIT_MS[match[2]]


def shown(at_ms: int) -> str:
    """Format ms since 1970, to the millisecond."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
