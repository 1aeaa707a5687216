"""Records that were encoded elsewhere, in a batch and in the state."""

from __future__ import annotations

from coordinator_server.machine.block import BlockSequence, EncodedRecords
from protocol.batch_builder import NO_HEADERS, BatchBuilder, encode_headers
from tests.support.runtime import ToySerde, toy_record

SERDE = ToySerde()
RECORDS = [toy_record("a", 1), toy_record("b", None), toy_record("c", 3)]
ENCODED = [(SERDE.encode_key(record), SERDE.encode_value(record)) for record in RECORDS]


def test_a_block_has_the_bytes_of_single_records() -> None:
    """The same bytes, the same offsets."""
    kept: list[int] = []
    block = EncodedRecords(ENCODED, SERDE.decode, kept.append)
    headers = encode_headers((("op1", b"task"),))
    batch, expected = BatchBuilder(7, 0), BatchBuilder(7, 0)
    block.write(batch, headers)
    block.replay(7)
    for (key, value), own in zip(ENCODED, (headers, NO_HEADERS, NO_HEADERS), strict=True):
        expected.append(key, value, own)

    assert batch.finish() == expected.finish()
    assert kept == [7]
    assert (list(block), len(block), bool(block)) == (RECORDS, 3, True)
    assert batch.size <= 61 + block.max_bytes() + len(headers)


def test_their_bytes_in_a_batch_are_bounded() -> None:
    """With long keys and values as well; a tombstone has no value. The bound is not much more than what they take."""
    encoded = [(b"k" * 300, b"v" * 10_000), (b"k", None), (b"", b"v" * 70_000)]
    block = EncodedRecords(encoded, SERDE.decode, lambda *_: None)
    batch = BatchBuilder(0, 0)
    block.write(batch, NO_HEADERS)

    assert batch.size - 61 <= block.max_bytes() <= batch.size + 200


def test_coalesced_blocks_overwrite_no_record() -> None:
    """Where blocks coalesce. Nor is anything before them overwritten afterwards."""
    block = EncodedRecords(ENCODED, SERDE.decode, lambda *_: None)

    assert [each.subject() for each in (block, BlockSequence([block]))] == [None, None]


def test_many_records_at_once_have_the_bytes_of_single_records() -> None:
    """Places of one, two and three bytes, long texts, tombstones, and what was in the batch before."""
    few = [(b"k", b"v" * (number % 90)) for number in range(8300)]
    many = [*few, (b"k" * 3000, b"v"), (b"k", None), (None, b"v"), (b"k", b"v" * 70_000)]
    at_once, one_by_one = BatchBuilder(7, 0), BatchBuilder(7, 0)
    headers = encode_headers((("op1", b"task"),))
    for batch in (at_once, one_by_one):
        batch.append(b"before", b"it")
    at_once.append_all(many, headers)
    for number, (key, value) in enumerate(many):
        one_by_one.append(key, value, NO_HEADERS if number else headers)

    assert (at_once.size, at_once.count, at_once.next_offset) == (one_by_one.size, one_by_one.count, one_by_one.next_offset)
    assert at_once.finish() == one_by_one.finish()
