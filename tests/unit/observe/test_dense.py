"""Fetched batches become a log without gaps, and stay as they are."""

from __future__ import annotations

import pytest

from coordinator_server.observe.dense import dense
from protocol.errors import DecodeError
from protocol.record_batch import iter_batches, iter_records
from tests.support.log import batch
from tests.support.observed import cleaned, in_epoch


def offsets(data: bytes) -> list[tuple[int, int]]:
    """The first and the next offset of each batch."""
    return [(header.base_offset, header.next_offset) for _, header in iter_batches(data)]


def test_batches_without_gaps_stay_byte_for_byte() -> None:
    fetched = batch(5, count=2) + batch(7)

    found = dense(fetched, 5)

    assert found is not None
    assert found.data == fetched
    assert found.next_offset == 8


def test_a_gap_is_a_batch_with_the_cleaners_mark() -> None:
    """It has the time and the epoch of the batch behind it, and salvage has not put it there."""
    fetched = batch(2) + in_epoch(batch(10, at_ms=1_700_000_000_500), 4)

    found = dense(fetched, 0)

    assert found is not None
    assert offsets(found.data) == [(0, 2), (2, 3), (3, 10), (10, 11)]
    assert found.data.endswith(fetched[-len(batch(10)) :])
    gap = found.headers[2]
    assert (gap.is_cleaned, gap.is_lost) == (True, False)
    assert (gap.count, gap.max_timestamp, gap.leader_epoch) == (0, 1_700_000_000_500, 4)
    assert [list(iter_records(found.data, position, header)) for position, header in iter_batches(found.data)][2] == []


def test_a_cleaned_batch_covers_its_offsets_itself() -> None:
    """The cleaner keeps a batch's first and last offset."""
    fetched = cleaned(0, kept=[3], last=9) + batch(10)

    found = dense(fetched, 0)

    assert found is not None
    assert found.data == fetched
    assert [header.is_cleaned for header in found.headers] == [True, False]


def test_a_gap_wider_than_a_batch_can_say() -> None:
    found = dense(batch(3 << 30), 0)

    assert found is not None
    assert offsets(found.data) == [(0, 1 << 30), (1 << 30, 2 << 30), (2 << 30, 3 << 30), (3 << 30, (3 << 30) + 1)]


def test_what_comes_before_the_position_is_left_out() -> None:
    """A broker begins with the batch that has the offset."""
    found = dense(batch(0, count=5) + batch(5), 5)

    assert found is not None
    assert found.data == batch(5)


@pytest.mark.parametrize("cut", [1, 20, 61])
def test_an_incomplete_batch_at_the_end_is_left_out(cut: int) -> None:
    whole = batch(0)

    found = dense(whole + batch(1)[:cut], 0)

    assert found is not None
    assert found.data == whole


def test_nothing_whole_is_nothing() -> None:
    assert dense(batch(0)[:-1], 0) is None
    assert dense(b"", 7) is None


@pytest.mark.parametrize(
    "data",
    [batch(0, count=5), batch(3)[:-1] + b"\7", bytes(100)],
    ids=["begins before the position", "damaged", "no batch"],
)
def test_bytes_that_do_not_go_on_are_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        dense(data, 3)
