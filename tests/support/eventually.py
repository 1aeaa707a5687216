"""Waiting for what another process does. For tests against real processes only: unit tests move a clock instead."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

PATIENCE_S: Final = 90.0
"""Longer than anything takes, also what a process of the lowest priority does beside a busy suite."""
T = TypeVar("T")


def eventually(condition: Callable[[], T], within_s: float = PATIENCE_S, describe: Callable[[], object] | None = None) -> T:
    """The first truthy value of ``condition``; fails when there is none in time, with what ``describe`` returns."""
    deadline = time.monotonic() + within_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_s} s{f': {describe()}' if describe else ''}")
        time.sleep(0.02)
    return value
