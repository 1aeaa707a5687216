"""Record batches, against those that aiokafka and kafka-python build and read."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from protocol.batch_builder import BatchBuilder, encode_headers
from protocol.errors import DecodeError, EncodeError, Malformed, Truncated
from protocol.record_batch import (
    CONTROL,
    HEADER_SIZE,
    TRANSACTIONAL,
    BatchHeader,
    Record,
    iter_batches,
    iter_records,
    read_header,
    verify,
)

NOW = 1_700_000_000_000
sizes = st.sampled_from([None, 0, 1, 63, 64, 127, 128, 2047, 2048, 9000])
contents = sizes.map(lambda size: None if size is None else b"c" * size)
headers = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=3).map(tuple)
entries = st.lists(st.tuples(contents, contents, headers), min_size=1, max_size=6)


def small_batch() -> bytes:
    """Three records, one of each kind that the log has."""
    builder = BatchBuilder(100, NOW, leader_epoch=3)
    builder.append(b"key", b"value", encode_headers([("who", b"me"), ("why", None)]))
    builder.append(b"key", None)
    builder.append(None, b"value")
    return builder.finish()


def records_of(data: bytes) -> list[Record]:
    return [record for pos, header in iter_batches(data) for record in iter_records(data, pos, header)]


def with_body(body: bytes, count: int = 1, last_delta: int = 0) -> tuple[bytes, BatchHeader]:
    """A batch with any bytes in the place of its records; its checksum is not asked for."""
    head = struct.pack(">qiibIhiqqqhii", 0, HEADER_SIZE - 12 + len(body), 0, 2, 0, 0, last_delta, 0, 0, -1, -1, -1, count)
    return head + body, read_header(head)


def test_the_header_says_what_the_builder_was_told() -> None:
    """Field by field, and what follows from them."""
    data = small_batch()

    header = read_header(data)

    assert (header.base_offset, header.last_offset, header.next_offset, header.count) == (100, 102, 103, 3)
    assert (header.size, header.leader_epoch, header.attributes, header.compression) == (len(data), 3, 0, 0)
    assert (header.base_timestamp, header.max_timestamp) == (NOW, NOW)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert (header.is_control, header.is_transactional) == (False, False)
    verify(data, 0, header)


@given(entries)
def test_bytes_are_those_of_kafka_python(
    items: list[tuple[bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]],
) -> None:
    """Its builder, given the same records, writes the same batch."""
    theirs = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 10**9)
    ours = BatchBuilder(0, NOW, leader_epoch=-1)
    for offset, (key, value, heads) in enumerate(items):
        theirs.append(offset, NOW, key, value, list(heads))
        assert ours.append(key, value, encode_headers(heads)) == offset

    data = ours.finish()

    expected = bytearray(theirs.build())
    expected[12:16] = struct.pack(">i", -1)
    assert data == bytes(expected)


@given(
    entries, st.integers(0, 2**60), st.lists(st.tuples(st.integers(0, 5000), st.integers(-5000, 5000)), min_size=6, max_size=6)
)
def test_records_come_back_as_they_were(
    items: list[tuple[bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]],
    base_offset: int,
    steps: list[tuple[int, int]],
) -> None:
    """With gaps in the offsets, and with times before and after the batch's own."""
    records = []
    offset = base_offset
    for (key, value, heads), (gap, shift) in zip(items, steps, strict=False):
        records.append(Record(offset + gap, NOW + shift, key, value, heads))
        offset += gap + 1
    builder = BatchBuilder(base_offset, NOW)
    for record in records:
        builder.append_record(record)

    data = builder.finish()

    assert records_of(data) == records
    assert read_header(data).max_timestamp == max(NOW, *(record.timestamp for record in records))
    theirs: Any = DefaultRecordBatch(data)
    assert theirs.validate_crc()
    assert [(item.offset, item.timestamp, item.key, item.value) for item in theirs] == [
        (record.offset, record.timestamp, record.key, record.value) for record in records
    ]


def test_appending_more_than_the_tables_hold() -> None:
    """Offset deltas and sizes whose varints are not looked up are as good."""
    builder = BatchBuilder(5, NOW)
    for index in range(3000):
        assert builder.append(b"%d" % index, b"v") == 5 + index

    assert [record.key for record in records_of(builder.finish())] == [b"%d" % index for index in range(3000)]


def test_size_and_count_grow_with_each_record() -> None:
    """The runtime closes a batch by them."""
    builder = BatchBuilder(7, NOW)
    assert (builder.size, builder.count, builder.next_offset) == (HEADER_SIZE, 0, 7)

    builder.append(b"k", b"v")

    assert (builder.size, builder.count, builder.next_offset) == (HEADER_SIZE + 9, 1, 8)
    assert len(builder.finish()) == builder.size


@given(entries)
def test_headers_can_be_passed_over(
    items: list[tuple[bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]],
) -> None:
    """Everything else is as it was written."""
    builder = BatchBuilder(0, NOW)
    for key, value, heads in items:
        builder.append(key, value, encode_headers(heads))
    data = builder.finish()

    found = list(iter_records(data, 0, read_header(data), with_headers=False))

    assert found == [Record(offset, NOW, key, value) for offset, (key, value, _) in enumerate(items)]


def test_an_empty_batch_is_not_written() -> None:
    """Kafka has no use for one here."""
    with pytest.raises(EncodeError):
        BatchBuilder(0, NOW).finish()


def test_offsets_in_a_batch_only_rise() -> None:
    """A record behind the last is refused and not written."""
    builder = BatchBuilder(10, NOW)
    builder.append_record(Record(15, NOW, b"k", None))
    size = builder.size

    for offset in (9, 15):
        with pytest.raises(EncodeError, match="is behind 16"):
            builder.append_record(Record(offset, NOW, b"k", None))
    assert (builder.size, builder.next_offset) == (size, 16)


def test_control_batches_are_told_from_data() -> None:
    """A transaction's end marker has its own attributes and its producer."""
    builder = BatchBuilder(3, NOW, attributes=TRANSACTIONAL | CONTROL, producer_id=900, producer_epoch=2)
    builder.append(b"\0\0\0\1", b"\0\0\0\0\0\0")
    data = builder.finish()

    header = read_header(data)

    assert (header.is_control, header.is_transactional, header.producer_id, header.producer_epoch) == (True, True, 900, 2)
    assert DefaultRecordBatch(data).is_control_batch
    assert [record.key for record in iter_records(data, 0, header)] == [b"\0\0\0\1"]


def test_batches_follow_each_other() -> None:
    """Each with its position, from where one asks."""
    first, second = small_batch(), small_batch()
    data = b"junk" + first + second

    assert [(pos, header.size) for pos, header in iter_batches(data, 4)] == [(4, len(first)), (4 + len(first), len(second))]
    assert list(iter_batches(b"")) == []


def test_every_prefix_is_truncated() -> None:
    """A torn tail is told from damage."""
    data = small_batch()

    for size in range(1, len(data)):
        with pytest.raises(Truncated):
            records_of(data[:size])


def test_every_flipped_bit_is_found() -> None:
    """By the checksum, or before it: in the part that the checksum leaves out, the length and the magic."""
    data = small_batch()
    unchecked = range(8), range(12, 16)  # base offset and leader epoch: a broker may set them

    for at in range(len(data)):
        if any(at in part for part in unchecked):
            continue
        for bit in range(8):
            bad = bytearray(data)
            bad[at] ^= 1 << bit
            with pytest.raises(DecodeError):
                records_of(bytes(bad))


def test_a_good_batch_before_a_bad_one_is_still_read() -> None:
    """The error comes when the bad one is reached."""
    data = small_batch()
    bad = bytearray(data)
    bad[-1] ^= 1
    batches = iter_batches(data + bytes(bad))

    assert next(batches)[0] == 0
    with pytest.raises(Malformed, match=f"checksum .* at byte {len(data)}"):
        next(batches)


@pytest.mark.parametrize("magic", [0, 1, 3, -1])
def test_other_magics_are_refused(magic: int) -> None:
    """Message sets of old are not served, and nobody writes newer ones."""
    data = bytearray(small_batch())
    data[16] = magic & 0xFF

    with pytest.raises(Malformed, match=f"magic {magic} is not served"):
        read_header(bytes(data))


@pytest.mark.parametrize(
    ("at", "form", "value"),
    [
        (0, ">q", -1),
        (0, ">q", 2**63 - 2),
        (8, ">i", 48),
        (8, ">i", -1),
        (23, ">i", -1),
        (57, ">i", -1),
        (57, ">i", 4),
        (57, ">i", 2**31 - 1),
    ],
)
def test_absurd_header_fields_are_malformed(at: int, form: str, value: int) -> None:
    """Negative offsets, lengths and counts, and more records than offsets."""
    data = bytearray(small_batch())
    struct.pack_into(form, data, at, value)

    with pytest.raises(Malformed):
        read_header(bytes(data))


def with_offsets(base_offset: int, last_delta: int, count: int) -> bytes:
    """A batch header, without records."""
    return struct.pack(">qiibIhiqqqhii", base_offset, HEADER_SIZE - 12, 0, 2, 0, 0, last_delta, 0, 0, -1, -1, -1, count)


def test_a_batch_without_offsets_is_malformed() -> None:
    """A batch without records has at least one offset: a reader would not get past it otherwise."""
    assert read_header(with_offsets(5, 0, 0)).next_offset == 6

    with pytest.raises(Malformed, match="offsets 5 \\+ -1 are out of range"):
        read_header(with_offsets(5, -1, 0))


@pytest.mark.parametrize("last_delta", [0, 7])
def test_the_offset_after_a_batch_is_an_int64(last_delta: int) -> None:
    """The largest offset is that of no record."""
    largest = 2**63 - 1
    assert read_header(with_offsets(largest - 1 - last_delta, last_delta, 1)).next_offset == largest

    with pytest.raises(Malformed, match="out of range"):
        read_header(with_offsets(largest - last_delta, last_delta, 1))


def test_zeros_are_no_batch() -> None:
    """The unwritten part of a file."""
    with pytest.raises(Malformed):
        read_header(bytes(100))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\x0e\0\0\0\x01\x01\0x", "record says 8 bytes and has 7"),
        (b"\x0a\0\0\0\x01\x01\0", "record says 6 bytes and has 7"),
        (b"\x0c\0\0\0\x01\x01\0more", "4 bytes behind the last record"),
        (b"\x7e\0\0\0\x01\x01\0", "record of 63 bytes in a batch with 6 left"),
        (b"\x01\0\0\0\x01\x01\0", "record of -1 bytes"),
        (b"\x0c\0\0\x02\x01\x01\0", "offset delta 1 is not in the batch"),
        (b"\x0c\0\0\0\x08\x01\0", "4 bytes in a record with 2 left"),
        (b"\x0c\0\0\0\x01\x01\x08", "4 headers in 0 bytes"),
        (b"\x0c\0\0\0\x01\x01\x01", "-1 headers"),
        (b"\x10\0\0\0\x01\x01\x02\x01\x01", "header without a name"),
        (b"\x12\0\0\0\x01\x01\x02\x02\xff\x01", "header name is not UTF-8"),
        (b"\xff" * 11, "varint of more than ten bytes"),
    ],
)
def test_records_that_contradict_themselves_are_malformed(body: bytes, reason: str) -> None:
    """However good the checksum."""
    data, header = with_body(body)

    with pytest.raises(Malformed, match=reason):
        list(iter_records(data, 0, header))


def test_more_records_than_bytes_is_refused_before_the_first() -> None:
    """A count is checked against what is there."""
    data, header = with_body(b"\x0c\0\0\0\x01\x01\0", count=2, last_delta=10)

    with pytest.raises(Malformed, match="2 records cannot be in 7 bytes"):
        next(iter_records(data, 0, header))


@given(st.binary(max_size=60), st.integers(0, 8))
def test_any_records_are_records_or_our_error(body: bytes, count: int) -> None:
    """No other exception, and nothing from behind the batch."""
    data, header = with_body(body, count, last_delta=100)

    try:
        records = list(iter_records(data + b"behind", 0, header))
    except DecodeError:
        return
    assert len(records) == count
