"""How records are cut into the batches of a layer."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from coordinator_server.pipeline.layer.batches import LayerBatch, LayerRecord, cut, encode_batch, lay_out
from protocol.record_batch import Record, iter_batches, iter_records

MEGABYTE = 1024 * 1024
OFFSETS_IN_BATCH = 2**31


def record(offset: int, key: bytes | None = b"k", value: bytes | None = b"v", epoch: int = 0) -> LayerRecord:
    return LayerRecord(Record(offset, 1_000 + offset, key, value), epoch)


def offsets(records: Iterable[LayerRecord]) -> list[list[int]]:
    return [[item.record.offset for item in batch] for batch in cut(records)]


def test_no_records_make_no_batch() -> None:
    """Of no records."""
    assert offsets([]) == []


@pytest.mark.parametrize(("count", "sizes"), [(200, [200]), (201, [200, 1]), (401, [200, 200, 1])])
def test_a_batch_has_200_records_at_most(count: int, sizes: list[int]) -> None:
    """The next one begins a batch."""
    assert [len(batch) for batch in cut(record(offset) for offset in range(count))] == sizes


@pytest.mark.parametrize(("size", "expected"), [(MEGABYTE - 11, [[0, 1, 2]]), (MEGABYTE - 10, [[0, 1], [2]])])
def test_a_batch_has_a_megabyte_of_keys_and_values_at_most(size: int, expected: list[list[int]]) -> None:
    """Missing ones count nothing."""
    records = [record(0, b"12345", bytes(size)), record(1, b"12345", None), record(2, None, b"1")]

    assert offsets(records) == expected


def test_a_record_that_is_larger_has_a_batch_of_its_own() -> None:
    """And what comes after it, another; its bytes do not count there."""
    assert offsets([record(0, value=bytes(2 * MEGABYTE)), record(1), record(2)]) == [[0], [1, 2]]


def test_a_batch_has_one_leader_epoch() -> None:
    """That of its first record."""
    records = [record(0), record(1), record(2, epoch=1), record(3, epoch=1), record(4)]

    assert offsets(records) == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize(("last", "expected"), [(OFFSETS_IN_BATCH + 6, 1), (OFFSETS_IN_BATCH + 7, 2)])
def test_the_offsets_of_a_batch_fit_its_deltas(last: int, expected: int) -> None:
    """They are 32 bits wide."""
    assert len(offsets([record(7), record(last)])) == expected


def test_unchanged_batches_are_where_they_were() -> None:
    """Between the records, which are cut there; before all and after all."""
    unchanged = [LayerBatch(base, encode_batch([record(base)])) for base in (0, 5, 6, 9)]
    zero, five, six, nine = unchanged
    found = list(lay_out([zero, record(1), record(2), five, six, record(7), record(8), nine]))

    assert [batch.base_offset for batch in found] == [0, 1, 5, 6, 7, 9]
    assert [batch for batch in found if batch in unchanged] == unchanged
    read = [
        each.offset
        for batch in found
        for position, head in iter_batches(batch.data)
        for each in iter_records(batch.data, position, head)
    ]
    assert read == [0, 1, 2, 5, 6, 7, 8, 9]
