"""The clocks of the operating system, in milliseconds."""

from __future__ import annotations

import time

from coordinator_server.runtime.clock import SystemClock


def test_both_clocks_count_milliseconds() -> None:
    """Rounded down, as everything that compares them expects."""
    clock = SystemClock()
    for now_ms, now_ns in ((clock.wall_ms, time.time_ns), (clock.now_ms, time.monotonic_ns)):
        before, found, after = now_ns(), now_ms(), now_ns()
        assert before // 1_000_000 <= found <= after // 1_000_000
