"""Records written in bulk are those that the general way writes, byte for byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from protocol.batch_builder import NO_HEADERS, BatchBuilder, encode_headers
from protocol.commit_records import VALUE_VERSION, CommitLayout
from protocol.commit_row_records import RowsLayout
from protocol.commit_rows import partitions_of
from protocol.coordinator_records import CLASSIC_GROUP_SERDE, CoordinatorRecord
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from tests.support.commit_rows import rows_of

NAMES = st.text(max_size=40) | st.sampled_from(["g" * 249, "é" * 300, "x" * 9000])
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
NOW_MS = 1_700_000_000_000
ROWS = st.lists(st.tuples(INT32, INT64, INT32), min_size=1, max_size=12)
HEADERS = st.sampled_from([NO_HEADERS, encode_headers([("op1", b"8/8"), ("member", b"m" * 70)])])
# Where the varint of the offset delta grows, and where the table of varints ends.
DELTAS = st.integers(0, 200) | st.sampled_from([58, 63, 64, 2040, 2047, 2048, 8185, 8191, 8192, 1_048_570, 1_048_576])


@given(NAMES, NAMES, st.sampled_from([ZERO_UUID, bytes(range(16))]), DELTAS, ROWS, HEADERS)
def test_bulk_and_single_records_are_the_same_bytes(
    group: str, topic: str, topic_id: bytes, delta: int, rows: list[tuple[int, int, int]], headers: bytes
) -> None:
    """Whatever is committed, wherever in the batch it comes."""
    one_by_one = BatchBuilder(0, NOW_MS)
    one_by_one.next_offset = delta
    of_record = headers
    for partition, offset, epoch in rows:
        value = OffsetCommitValue(offset, epoch, "", NOW_MS, topic_id=topic_id)
        record = CoordinatorRecord(OffsetCommitKey(group, topic, partition), value, VALUE_VERSION)
        one_by_one.append(CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record), of_record)
        of_record = NO_HEADERS

    layout = CommitLayout(group, topic, topic_id)
    encoded = layout.encode_partitions(delta, [OffsetCommitRequestPartition(*row) for row in rows], NOW_MS, headers)
    in_bulk = BatchBuilder(0, NOW_MS)
    in_bulk.next_offset = delta
    in_bulk.extend(encoded, len(rows))

    one_by_one.count = in_bulk.count = len(rows)
    assert in_bulk.finish() == one_by_one.finish()
    assert len(encoded) <= layout.record_bytes * len(rows) + len(headers)


@given(NAMES, st.sampled_from([ZERO_UUID, bytes(range(16))]), DELTAS, ROWS, st.sampled_from([1, 2, 5, 10]), HEADERS)
def test_rows_of_a_request_become_the_same_records(
    topic: str, topic_id: bytes, delta: int, rows: list[tuple[int, int, int]], times: int, headers: bytes
) -> None:
    """Few of them or many: those are written column by column."""
    rows = rows * times
    layout = CommitLayout("group", topic, topic_id)
    partitions = [OffsetCommitRequestPartition(*row) for row in rows]

    of_request = rows_of(partitions)
    encoded = RowsLayout(layout, partitions_of(of_request)).encode(of_request, delta, NOW_MS, headers)

    assert encoded == layout.encode_partitions(delta, partitions, NOW_MS, headers)


# Where the size of the text, of the value and of the record take a byte more.
TEXTS = st.text(max_size=20) | st.sampled_from(["", "x" * 126, "x" * 127, "é" * 64, "x" * 8_150, "x" * 16_383, "€" * 5000])


@given(
    NAMES,
    st.sampled_from([ZERO_UUID, bytes(range(16))]),
    DELTAS,
    st.lists(st.tuples(INT32, INT64, INT32, TEXTS), min_size=1, max_size=6),
    HEADERS,
)
def test_bulk_and_single_records_with_metadata_are_the_same_bytes(
    topic: str, topic_id: bytes, delta: int, rows: list[tuple[int, int, int, str]], headers: bytes
) -> None:
    """However long it is, and wherever in the batch it comes."""
    one_by_one = BatchBuilder(0, NOW_MS)
    one_by_one.next_offset = delta
    of_record = headers
    for partition, offset, epoch, text in rows:
        value = OffsetCommitValue(offset, epoch, text, NOW_MS, topic_id=topic_id)
        record = CoordinatorRecord(OffsetCommitKey("group", topic, partition), value, VALUE_VERSION)
        one_by_one.append(CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record), of_record)
        of_record = NO_HEADERS

    layout = CommitLayout("group", topic, topic_id)
    metadata = [row[3].encode() for row in rows]
    encoded = layout.encode_with_metadata(delta, [OffsetCommitRequestPartition(*row) for row in rows], metadata, NOW_MS, headers)
    in_bulk = BatchBuilder(0, NOW_MS)
    in_bulk.next_offset = delta
    in_bulk.extend(encoded, len(rows))

    one_by_one.count = in_bulk.count = len(rows)
    assert in_bulk.finish() == one_by_one.finish()
    assert len(encoded) <= layout.record_bytes * len(rows) + layout.metadata_bytes(metadata) + len(headers)
