"""Replaying plain records at once is the same as decoding and replaying each: on any batch, whole or mangled."""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.bulk import BulkReplay
from coordinator_server.offsets.store import OffsetStore
from coordinator_server.pipeline.states.groups import empty_shard
from coordinator_server.runtime.loader import BatchReplay, replay_batch
from protocol.batch_builder import BatchBuilder, encode_headers
from protocol.commit_records import CommitLayout
from protocol.coordinator_records import CLASSIC_GROUP_SERDE, CoordinatorRecord
from protocol.errors import DecodeError, Malformed
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from protocol.record_batch import HEADER_SIZE, Record
from tests.support.group import hard_state

TOPIC_ID = bytes(range(16))
GROUPS = ("g", "group-1", "a group with a name that is longer than sixty-four bytes are, by far", "ü")
TOPICS = ("t", "orders", "o" * 120)


def state_of(data: bytes, *, at_once: bool) -> Any:
    """What a batch makes of an empty shard: its hard state, or the kind of complaint."""
    shard = empty_shard()
    try:
        if at_once:
            BatchReplay(CLASSIC_GROUP_SERDE, shard).replay(data)
        else:
            replay_batch(data, CLASSIC_GROUP_SERDE, shard)
    except DecodeError as error:
        return type(error)
    return hard_state(shard)


def sealed(data: bytes) -> bytes:
    """The batch with a checksum that holds."""
    return data[:17] + struct.pack(">I", crc32c(data[21:])) + data[21:]


offsets = st.integers(-1, 2**63 - 1)
commits = st.builds(
    lambda group, topic, first, count, rest, steps: [
        (OffsetCommitKey(group, topic, first + index), OffsetCommitValue(steps + index, *rest[1:]), rest[0])
        for index in range(count)
    ],
    st.sampled_from(GROUPS),
    st.sampled_from(TOPICS),
    st.integers(0, 2**30),
    st.sampled_from((1, 1, 2, 5, 30, 140)),
    st.one_of(
        st.tuples(
            st.just(4), st.just(-1), st.just(""), st.integers(0, 2**62), st.just(-1), st.sampled_from((bytes(16), TOPIC_ID))
        ),
        st.tuples(st.sampled_from((3, 4)), st.integers(-1, 2**31 - 1), st.text(max_size=90), st.integers(0, 2**62)),
        st.tuples(st.just(1), st.just(-1), st.text(max_size=3), st.integers(0, 2**62), st.integers(0, 2**62)),
        st.tuples(st.sampled_from((0, 2)), st.just(-1), st.text(max_size=3), st.integers(0, 2**62)),
    ),
    st.integers(-1, 2**62),
)
tombstones = st.builds(
    lambda group, topic, partition: [(OffsetCommitKey(group, topic, partition), None, 0)],
    st.sampled_from(GROUPS),
    st.sampled_from(TOPICS),
    st.integers(0, 40),
)
others = st.sampled_from(
    [
        [(GroupMetadataKey("g"), GroupMetadataValue("consumer", 3, "range", None, 7, []), 3)],
        [(LegacyOffsetCommitKey("g", "t", 1), LegacyOffsetCommitValue(4, "m", 9), 0)],
        [(LegacyOffsetCommitKey("g", "t", 1), None, 0)],
    ]
)


@st.composite
def batches(draw: st.DrawFn) -> bytes:
    """A batch as the server writes it, or as compaction leaves it: with gaps and times of its own."""
    rows = [
        row for rows in draw(st.lists(st.one_of(commits, commits, tombstones, others), min_size=1, max_size=8)) for row in rows
    ]
    rng = random.Random(draw(st.integers(0, 2**32)))
    is_compacted, has_headers = draw(st.booleans()), draw(st.booleans())
    first = draw(st.sampled_from((0, 1, 2**40)))
    builder = BatchBuilder(first, 1_700_000_000_000, 3)
    for number, (key, value, version) in enumerate(rows):
        record = CoordinatorRecord(key, value, version)
        raw = CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record)
        headers = (("by", b"x"),) if has_headers and number % 50 == 0 else ()
        if is_compacted:
            offset = builder.next_offset + rng.choice((0, 0, 0, 1, 70, 9000))
            builder.append_record(Record(offset, 1_700_000_000_000 + rng.choice((0, 0, 90, 10**6, -5)), *raw, headers))
        else:
            builder.append(*raw, encode_headers(headers))
    return builder.finish()


@given(batches())
def test_bulk_replay_gives_the_state_of_single_replay(data: bytes) -> None:
    """Runs, single records, tombstones, older versions, headers, gaps, records of other types: at once or one by one."""
    assert state_of(data, at_once=True) == state_of(data, at_once=False)


@given(batches(), st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1, max_size=3))
def test_what_is_wrong_with_a_batch_is_found_all_the_same(data: bytes, changes: list[tuple[int, int]]) -> None:
    """Bytes changed anywhere behind the header, with a checksum that holds: the same state, or a complaint either way."""
    changed = bytearray(data)
    for position, value in changes:
        changed[HEADER_SIZE + position % (len(data) - HEADER_SIZE)] = value
    mangled = sealed(bytes(changed))
    at_once, one_by_one = state_of(mangled, at_once=True), state_of(mangled, at_once=False)
    assert isinstance(at_once, type) == isinstance(one_by_one, type)
    assert isinstance(at_once, type) or at_once == one_by_one


@pytest.mark.parametrize("timestamp", [0, 255, 256])
@pytest.mark.parametrize("version", range(5))
def test_a_value_of_any_length_is_read_in_its_own_version(version: int, timestamp: int) -> None:
    """Some are as long as one without metadata in a newer version, and have the same bytes in some places."""
    for text in [character * length for length in range(40) for character in "m\0\1"]:
        record = CoordinatorRecord(OffsetCommitKey("g", "t", 1), OffsetCommitValue(7, -1, text, timestamp), version)
        builder = BatchBuilder(0, 0)
        builder.append(CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record))
        data = builder.finish()

        assert state_of(data, at_once=True) == state_of(data, at_once=False)


@pytest.mark.parametrize(("version", "topic_id"), [(3, ZERO_UUID), (4, ZERO_UUID), (4, TOPIC_ID)])
def test_a_value_with_a_wrong_byte_is_refused_all_the_same(version: int, topic_id: bytes) -> None:
    """Or read as what it is then, wherever the byte is."""
    record = CoordinatorRecord(OffsetCommitKey("g", "t", 1), OffsetCommitValue(7, 1, "", 9, -1, topic_id), version)
    key, value = CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record)
    assert value is not None
    for place in range(len(value)):
        for byte in (0, 1, 2, 3, 5, 15, 17, 255):
            builder = BatchBuilder(0, 0)
            builder.append(key, value[:place] + bytes([byte]) + value[place + 1 :])

            assert state_of(builder.finish(), at_once=True) == state_of(builder.finish(), at_once=False)


@pytest.mark.parametrize("place", ["record", "delta", "key", "value"])
def test_a_negative_size_is_none(place: str) -> None:
    """The last bit of a varint is its sign. The regular decoder says what is wrong with it, or that there is no key or value."""
    record = CoordinatorRecord(OffsetCommitKey("g", "t", 1), OffsetCommitValue(7), 4)
    key, value = CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record)
    assert value is not None
    builder = BatchBuilder(0, 0)
    builder.append(key, value)
    data = bytearray(builder.finish())
    # Size, attributes, timestamp delta, offset delta, key size: a byte each.
    positions = {"record": 0, "delta": 3, "key": 4, "value": 5 + len(key)}
    at = HEADER_SIZE + positions[place]
    assert data[HEADER_SIZE + 4] >> 1 == len(key)
    assert data[HEADER_SIZE + 5 + len(key)] >> 1 == len(value)
    data[at] |= 1
    mangled = sealed(bytes(data))

    assert state_of(mangled, at_once=True) == state_of(mangled, at_once=False)
    assert state_of(bytes(builder.finish()), at_once=True) != state_of(mangled, at_once=True)


@pytest.mark.parametrize("count", [2, 4])
def test_a_count_that_is_not_that_of_the_records_is_refused(count: int) -> None:
    """Although every record could be read."""
    builder = BatchBuilder(0, 0)
    for partition in range(3):
        record = CoordinatorRecord(OffsetCommitKey("g", "t", partition), OffsetCommitValue(1), 4)
        builder.append(CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record))
    data = bytearray(builder.finish())
    data[HEADER_SIZE - 4 : HEADER_SIZE] = count.to_bytes(4)
    data[23:27] = (3).to_bytes(4)  # the last offset delta, so that four records would have room

    with pytest.raises(Malformed):
        BatchReplay(CLASSIC_GROUP_SERDE, empty_shard()).replay(sealed(bytes(data)))


@pytest.mark.parametrize("before", [0, 58])
def test_offset_deltas_that_are_longer_than_they_had_to_be_are_read_as_well(before: int) -> None:
    """One byte more than this server, or Kafka, writes; up to where so many bytes are needed."""
    layout = CommitLayout("g", "t", ZERO_UUID)
    partitions = [OffsetCommitRequestPartition(index, 5) for index in range(before + 10)]
    records = layout.encode_partitions(64, partitions[before:], 0)
    size = len(records) // 10
    longer = bytearray(records)
    for place in range(10):
        # Behind the size, attributes and timestamp delta.
        delta = before + place << 1
        longer[place * size + 3 : place * size + 5] = bytes((delta & 0x7F | 0x80, delta >> 7))
    builder = BatchBuilder(0, 0)
    if before:
        builder.extend(layout.encode_partitions(0, partitions[:before], 0), before)
    builder.extend(bytes(longer), 10)

    at_once = state_of(builder.finish(), at_once=True)

    assert not isinstance(at_once, type)
    assert at_once == state_of(builder.finish(), at_once=False)


def test_a_commit_of_many_partitions_is_read_at_once() -> None:
    """Or all of this would be for nothing: its records are not read one by one, and none takes the memory of one."""
    builder = BatchBuilder(0, 0)
    for partition in range(60):
        record = CoordinatorRecord(OffsetCommitKey("g", "t", partition), OffsetCommitValue(partition * 7), 4)
        builder.append(CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record))
    data = builder.finish()
    store = OffsetStore(SnapshotRegistry())
    bulk = CountingReplay(store)

    assert bulk.replay(data, HEADER_SIZE, len(data), 0, 59) == (len(data), 60)
    assert bulk.reads == 1
    assert len(store.by_group["g"].rows_of("t")) == 1
    assert store.by_group["g"].count() == 60
    assert {position: found.committed_offset for position, found in store.by_group["g"].items()} == {
        ("t", partition): partition * 7 for partition in range(60)
    }


def test_groups_share_their_topic_ids() -> None:
    """Millions of offsets have the few ids of their topics."""
    builder = BatchBuilder(0, 0)
    for group in ("a", "b"):
        record = CoordinatorRecord(OffsetCommitKey(group, "t", 0), OffsetCommitValue(7, topic_id=TOPIC_ID), 4)
        builder.append(CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record))
    data = builder.finish()
    store = OffsetStore(SnapshotRegistry())

    BulkReplay(store).replay(data, HEADER_SIZE, len(data), 0, 1)

    first, second = (store.by_group[group]["t", 0].topic_id for group in ("a", "b"))
    assert first == TOPIC_ID
    assert first is second


class CountingReplay(BulkReplay):
    """Counts how often it reads a record and those that are like it."""

    reads = 0

    def _record(self, data: bytes, start: int, end: int, base_offset: int, last_delta: int) -> int:
        self.reads += 1
        return super()._record(data, start, end, base_offset, last_delta)
