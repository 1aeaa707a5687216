"""How batches are combined: pairs that meet in every way, and the start offset."""

from __future__ import annotations

import pytest

from coordinator_server.share.state_batches import NO_START_OFFSET, StateBatch, combine

B = StateBatch
AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4


@pytest.mark.parametrize(
    ("batches", "combined"),
    [
        ([], []),
        ([B(5, 9, 1, 0)], [B(5, 9, 1, 0)]),
        ([B(7, 9, 1, 0), B(1, 3, 1, 0)], [B(1, 3, 1, 0), B(7, 9, 1, 0)]),
        ([B(1, 5, 1, 0), B(6, 9, 1, 0)], [B(1, 9, 1, 0)]),
        ([B(1, 5, 1, 0), B(6, 9, 2, 0)], [B(1, 5, 1, 0), B(6, 9, 2, 0)]),
        ([B(1, 5, 1, 0), B(3, 4, 1, 0)], [B(1, 5, 1, 0)]),
        ([B(1, 5, 1, 0), B(1, 5, 2, 0)], [B(1, 5, 2, 0)]),
        ([B(1, 5, 1, ARCHIVED), B(1, 5, 2, AVAILABLE)], [B(1, 5, 2, AVAILABLE)]),
        ([B(1, 5, 2, ACKNOWLEDGED), B(1, 5, 2, ARCHIVED)], [B(1, 5, 2, ARCHIVED)]),
        ([B(1, 9, 1, 0), B(3, 5, 2, 0)], [B(1, 2, 1, 0), B(3, 5, 2, 0), B(6, 9, 1, 0)]),
        ([B(1, 9, 2, 0), B(3, 5, 1, 0)], [B(1, 9, 2, 0)]),
        ([B(1, 5, 2, 0), B(1, 9, 1, 0)], [B(1, 5, 2, 0), B(6, 9, 1, 0)]),
        ([B(1, 5, 1, 0), B(1, 9, 2, 0)], [B(1, 9, 2, 0)]),
        ([B(1, 9, 1, 0), B(5, 9, 2, 0)], [B(1, 4, 1, 0), B(5, 9, 2, 0)]),
        ([B(1, 5, 1, 0), B(3, 9, 2, 0)], [B(1, 2, 1, 0), B(3, 9, 2, 0)]),
        ([B(1, 5, 2, 0), B(3, 9, 1, 0)], [B(1, 5, 2, 0), B(6, 9, 1, 0)]),
    ],
)
def test_a_record_has_the_larger_count_and_with_equal_counts_the_larger_state(
    batches: list[StateBatch], combined: list[StateBatch]
) -> None:
    assert combine(batches, NO_START_OFFSET) == tuple(combined)


def test_neighbours_that_were_passed_before_they_became_equal_stay_apart() -> None:
    """As in Kafka: the first batch was done when the two behind it were put together."""
    batches = [B(0, 4, 2, 0), B(5, 10, 1, 0), B(5, 10, 2, 0)]

    assert combine(batches, NO_START_OFFSET) == (B(0, 4, 2, 0), B(5, 10, 2, 0))


@pytest.mark.parametrize(
    ("start_offset", "combined"),
    [(0, [B(2, 4, 1, 0)]), (2, [B(2, 4, 1, 0)]), (3, [B(3, 4, 1, 0)]), (4, [B(4, 4, 1, 0)]), (5, [])],
)
def test_what_lies_below_the_start_offset_goes(start_offset: int, combined: list[StateBatch]) -> None:
    assert combine([B(2, 4, 1, 0)], start_offset) == tuple(combined)


@pytest.mark.parametrize(
    ("batches", "combined"),
    [
        ([B(5, 3, 2, 0)], [B(5, 3, 2, 0)]),
        ([B(0, 4, 1, 0), B(9, 6, 1, 0)], [B(0, 4, 1, 0), B(9, 6, 1, 0)]),
        ([B(9, 6, 1, 0), B(9, 6, 1, 0)], [B(9, 6, 1, 0)]),
        ([B(9, 8, 1, 0), B(9, 12, 1, 0)], [B(9, 12, 1, 0)]),
        ([B(9, 8, 1, 0), B(9, 12, 2, 0)], [B(9, 8, 1, 0), B(9, 12, 2, 0)]),
        ([B(0, 10, 2, 0), B(5, 3, 1, 0)], [B(0, 10, 2, 0)]),
        ([B(0, 10, 1, 0), B(5, 3, 1, 0)], [B(0, 10, 1, 0)]),
    ],
)
def test_a_batch_without_a_record_is_kept_where_no_other_meets_it(batches: list[StateBatch], combined: list[StateBatch]) -> None:
    """As Kafka's PersisterStateBatchCombiner does."""
    assert combine(batches, NO_START_OFFSET) == tuple(combined)


def test_a_batch_without_a_record_inside_a_smaller_one_is_dropped() -> None:
    """Kafka's coordinator would split and merge the other one for ever."""
    assert combine([B(0, 10, 1, 0), B(5, 3, 2, 0)], NO_START_OFFSET) == (B(0, 10, 1, 0),)
    assert combine([B(20, 100, 1, 0), B(30, 5, 2, 0), B(50, 60, 2, 0)], NO_START_OFFSET) == (
        B(20, 49, 1, 0),
        B(50, 60, 2, 0),
        B(61, 100, 1, 0),
    )


def test_a_batch_without_a_record_goes_below_the_start_offset() -> None:
    assert combine([B(9, 6, 1, 0)], 7) == ()
    assert combine([B(9, 6, 1, 0)], 6) == (B(9, 6, 1, 0),)
