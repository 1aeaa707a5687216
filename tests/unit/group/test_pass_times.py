"""PassTimes: steps come one after the other, and take a fifth of the time at most."""

from __future__ import annotations

import pytest

from coordinator_server.group.pass_times import STEP_INTERVAL_MS, PassTimes


def test_steps_take_turns() -> None:
    times = PassTimes()

    assert [times.reserve(1_000) for _ in range(3)] == [0, STEP_INTERVAL_MS, 2 * STEP_INTERVAL_MS]
    assert times.reserve(2_000) == 0


@pytest.mark.parametrize(("took_ms", "delay_ms"), [(0, 10), (2, 10), (3, 15), (20, 100)])
def test_a_step_that_took_long_delays_the_next(took_ms: int, delay_ms: int) -> None:
    """By at least four times as long."""
    times = PassTimes()
    times.reserve(1_000)

    found = times.after_step(1_000 + took_ms, took_ms)

    assert found + took_ms >= delay_ms
    assert found >= 4 * took_ms


def test_it_delays_the_steps_of_all_passes() -> None:
    times = PassTimes()
    times.reserve(1_000)
    times.after_step(1_020, 20)

    assert times.reserve(1_020) >= 5 * 20


def test_a_pass_does_not_go_on_at_once_however_late_it_is() -> None:
    times = PassTimes()
    times.reserve(0)

    assert times.after_step(5_000) >= 1
