"""Whole batches, and what is none."""

from __future__ import annotations

import pytest

from coordinator_server.log.write.segments import end_of_batches
from protocol.batch_builder import empty_batch
from protocol.record_batch import HEADER_SIZE
from tests.support.log import batch


def test_the_end_of_whole_batches() -> None:
    """The last may be an empty one, which is a header and nothing else."""
    assert len(empty_batch(7, 3)) == HEADER_SIZE

    assert end_of_batches(b"", 5) == 5
    assert end_of_batches(batch(5, count=2), 5) == 7
    assert end_of_batches(batch(5, count=2) + empty_batch(7, 3), 5) == 10


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (batch(5) + empty_batch(6, 3)[:-1], "60 bytes are no batch"),
        (batch(5)[:-1], "not a whole batch at offset 5"),
        (batch(6), "not a whole batch at offset 5, but one of .* at offset 6"),
        (batch(5) + batch(7), "not a whole batch at offset 6"),
        (bytes(HEADER_SIZE), "not a whole batch at offset 5"),
    ],
)
def test_anything_else_is_refused(data: bytes, why: str) -> None:
    """Part of a header, part of a batch, a wrong offset."""
    with pytest.raises(ValueError, match=why):
        end_of_batches(data, 5)
