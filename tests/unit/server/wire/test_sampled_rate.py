"""A rate over windows, as Kafka measures it, and the wait that brings it back to a limit."""

from __future__ import annotations

import pytest

from coordinator_server.server.wire.sampled_rate import SampledRate, Windows

WINDOWS = Windows(11, 1000)


def wait_ms(limit: float, *values: tuple[int, float], now_ms: int) -> int:
    rate = SampledRate(WINDOWS)
    for at_ms, value in values:
        rate.record(value, at_ms)
    return rate.wait_ms(limit, now_ms)


def test_a_rate_at_its_limit_causes_no_wait() -> None:
    """100 in ten seconds, the whole windows that are assumed at the start, are ten a second."""
    assert wait_ms(10, (0, 100), now_ms=0) == 0
    assert wait_ms(10, (0, 101), now_ms=0) == 100


@pytest.mark.parametrize(("value", "wait"), [(100, 0), (110, 1_000), (150, 5_000), (200, 10_000)])
def test_the_wait_is_the_part_of_the_time_by_which_the_rate_is_above_the_limit(value: float, wait: int) -> None:
    assert wait_ms(10, (0, value), now_ms=0) == wait


def test_a_sampled_rate_divides_by_the_time_of_its_windows() -> None:
    """After ten seconds and a half, that is the time: 105 in 10.5 seconds are ten a second."""
    values = [(second * 1000, 9) for second in range(11)]

    assert wait_ms(10, *values, (10_400, 6), now_ms=10_500) == 0
    assert wait_ms(10, *values, (10_400, 7), now_ms=10_500) == 100


def test_what_is_older_than_the_windows_does_not_count() -> None:
    assert wait_ms(10, (0, 10_000), (5_000, 1), now_ms=10_999) > 0
    assert wait_ms(10, (0, 10_000), (5_000, 1), now_ms=11_000) == 0


def test_a_constant_rate_is_measured_as_it_is() -> None:
    """Over minutes, through all windows: ten a second are more than nine, and not more than eleven."""
    rate = SampledRate(WINDOWS)
    for at_ms in range(0, 120_000, 100):
        rate.record(1, at_ms)
        if at_ms > 20_000:
            assert rate.wait_ms(9, at_ms) > 0
            assert rate.wait_ms(11.2, at_ms) == 0


def test_a_value_that_is_taken_back_was_never_there() -> None:
    rate = SampledRate(WINDOWS)
    rate.record(200, 0)
    rate.record(-200, 0)

    assert rate.wait_ms(1, 0) == 0
