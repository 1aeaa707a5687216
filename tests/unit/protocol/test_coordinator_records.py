"""Records of the coordinators' logs, against bytes put together by hand."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.coordinator_records import (
    CLASSIC_GROUP_SERDE,
    CLUSTER_METADATA_SERDE,
    GROUP_SERDE,
    SHARE_SERDE,
    TRANSACTION_SERDE,
    CoordinatorRecord,
    KeyedSerde,
)
from protocol.errors import DecodeError, EncodeError, Malformed, Truncated
from protocol.messages.cluster_metadata import PartitionRecord, RemoveTopicRecord, TopicRecord
from protocol.messages.consumer_group_records import ConsumerGroupMetadataKey, ConsumerGroupMetadataValue
from protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.messages.heartbeat import HeartbeatRequest
from tests.support.oracle import raw_schemas

TOPIC_ID = bytes(range(16))
OFFSET_KEY = b"\0\x01" + b"\0\x05group" + b"\0\x05topic" + b"\0\0\0\x07"


def test_a_committed_offset() -> None:
    """Type 1, then the key; version 3, then offset, leader epoch, metadata and commit time."""
    record = CoordinatorRecord(OffsetCommitKey("group", "topic", 7), OffsetCommitValue(42, 5, "meta", 1234), 3)

    assert GROUP_SERDE.encode_key(record) == OFFSET_KEY
    assert GROUP_SERDE.encode_value(record) == b"\0\x03" + struct.pack(">qi", 42, 5) + b"\0\x04meta" + struct.pack(">q", 1234)


def test_a_committed_offset_with_a_topic_id() -> None:
    """Version 4 is flexible and carries the id as tagged field 0."""
    record = CoordinatorRecord(OffsetCommitKey("group", "topic", 7), OffsetCommitValue(42, 5, "", 1234, topic_id=TOPIC_ID), 4)

    expected = b"\0\x04" + struct.pack(">qi", 42, 5) + b"\x01" + struct.pack(">q", 1234) + b"\x01\x00\x10" + TOPIC_ID
    assert GROUP_SERDE.encode_value(record) == expected


@pytest.mark.parametrize(
    "record",
    [
        CoordinatorRecord(LegacyOffsetCommitKey("g", "t", 1), LegacyOffsetCommitValue(1, "m", 2), 0),
        *(CoordinatorRecord(OffsetCommitKey("g", "t", 1), OffsetCommitValue(1, metadata="m"), v) for v in range(5)),
        *(
            CoordinatorRecord(
                GroupMetadataKey("g"), GroupMetadataValue("consumer", 3, None, None, members=[MemberMetadata("m")]), v
            )
            for v in range(5)
        ),
        CoordinatorRecord(OffsetCommitKey("g", "t", 1), None),
        CoordinatorRecord(GroupMetadataKey("g"), None),
    ],
    ids=lambda record: f"{type(record.key).__name__}-{'tombstone' if record.value is None else record.value_version}",
)
def test_records_come_back_as_they_were(record: CoordinatorRecord) -> None:
    """Every type at every version, and tombstones."""
    assert GROUP_SERDE.decode(GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record)) == record


@pytest.mark.parametrize(
    ("serde", "names"),
    [
        (CLASSIC_GROUP_SERDE, ("LegacyOffsetCommit", "OffsetCommit", "GroupMetadata")),
        (GROUP_SERDE, ("LegacyOffsetCommit", "OffsetCommit", "Group", "ConsumerGroup", "ShareGroup", "StreamsGroup")),
        (SHARE_SERDE, ("ShareSnapshot", "ShareUpdate")),
        (TRANSACTION_SERDE, ("TransactionLog",)),
    ],
)
def test_every_record_of_a_log_is_in_its_family(serde: KeyedSerde, names: tuple[str, ...]) -> None:
    """All types that the schemas have, and at each version of the value a record comes back as it was."""
    keys = {name for name, raw in raw_schemas().items() if raw["type"] == "coordinator-key" and name.startswith(names)}

    assert {key.__name__ for key, _ in serde.types.values()} == keys
    for key, value in serde.types.values():
        assert value.__name__ == key.__name__.removesuffix("Key") + "Value"
        for version in value.kafka.versions:
            for record in (CoordinatorRecord(key(), value(), version), CoordinatorRecord(key(), None)):
                assert serde.decode(serde.encode_key(record), serde.encode_value(record)) == record


def test_types_of_other_groups_are_unknown_to_classic_ones() -> None:
    """The classic coordinator's loader skips what it does not replay."""
    record = CoordinatorRecord(ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(7), 0)

    assert CLASSIC_GROUP_SERDE.decode(GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record)) is None
    with pytest.raises(EncodeError):
        CLASSIC_GROUP_SERDE.encode_key(record)


def test_a_record_of_an_unknown_type_is_none() -> None:
    """Loaders skip it, compaction keeps it."""
    assert GROUP_SERDE.decode(b"\x00\x63whatever", b"else") is None


def test_a_value_of_an_unknown_version_is_malformed() -> None:
    """The type is known, so this is no record of the future that could be skipped."""
    with pytest.raises(Malformed, match="OffsetCommitKey v9: the value has an unknown version"):
        GROUP_SERDE.decode(OFFSET_KEY, b"\0\x09...")


@pytest.mark.parametrize(("key", "value"), [(None, b""), (b"", None), (b"\0", None), (OFFSET_KEY, b""), (OFFSET_KEY, b"\0")])
def test_no_type_or_no_version_is_truncated(key: bytes | None, value: bytes | None) -> None:
    """Both are two bytes."""
    with pytest.raises(Truncated, match=r"^CoordinatorRecord: the .* is too short at byte 0$"):
        GROUP_SERDE.decode(key, value)


def test_bytes_behind_a_record_are_ignored() -> None:
    """As Kafka's loader ignores them."""
    record = CoordinatorRecord(OffsetCommitKey("group", "topic", 7), OffsetCommitValue(42), 3)

    assert GROUP_SERDE.decode(OFFSET_KEY + b"x", (GROUP_SERDE.encode_value(record) or b"") + b"y") == record


@given(st.none() | st.binary(max_size=40), st.none() | st.binary(max_size=60))
def test_any_bytes_are_a_record_or_none_or_our_error(key: bytes | None, value: bytes | None) -> None:
    """In either framing."""
    for serde in (GROUP_SERDE, CLUSTER_METADATA_SERDE):
        try:
            record = serde.decode(key, value)
        except DecodeError:
            continue
        assert record is None or isinstance(record, CoordinatorRecord)


@pytest.mark.parametrize(
    "record",
    [
        CoordinatorRecord(HeartbeatRequest(), None),
        CoordinatorRecord(OffsetCommitValue(), None),
    ],
)
def test_only_keys_are_keys(record: CoordinatorRecord) -> None:
    """Anything else is our mistake."""
    with pytest.raises(EncodeError, match="is not a key of this log"):
        GROUP_SERDE.encode_key(record)


@pytest.mark.parametrize(("value", "version"), [(OffsetCommitValue(), 5), (HeartbeatRequest(), 0)])
def test_only_values_at_their_versions_are_values(value: OffsetCommitValue | HeartbeatRequest, version: int) -> None:
    """Anything else is our mistake."""
    with pytest.raises(EncodeError, match="is not a value of this log"):
        GROUP_SERDE.encode_value(CoordinatorRecord(OffsetCommitKey(), value, version))


def test_a_topic_of_the_cluster() -> None:
    """KRaft's framing: frame version 1, type 2, version 0, then the message; no key."""
    record = CoordinatorRecord(TopicRecord("orders", TOPIC_ID), None)

    assert CLUSTER_METADATA_SERDE.encode_key(record) is None
    assert CLUSTER_METADATA_SERDE.encode_value(record) == b"\x01\x02\x00" + b"\x07orders" + TOPIC_ID + b"\0"


@pytest.mark.parametrize(
    "record",
    [
        CoordinatorRecord(TopicRecord("orders", TOPIC_ID), None),
        *(CoordinatorRecord(PartitionRecord(3, TOPIC_ID, [1], [1], leader=1), None, version) for version in range(3)),
        CoordinatorRecord(RemoveTopicRecord(TOPIC_ID), None),
    ],
)
def test_metadata_records_come_back_as_they_were(record: CoordinatorRecord) -> None:
    """The message stands as the key, its version as the value's."""
    assert CLUSTER_METADATA_SERDE.decode(None, CLUSTER_METADATA_SERDE.encode_value(record)) == record


def test_an_unknown_metadata_record_is_none() -> None:
    """The broker's log has dozens of other types."""
    assert CLUSTER_METADATA_SERDE.decode(None, b"\x01\x0c\x00anything") is None


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (None, Malformed),
        (b"", Truncated),
        (b"\x01\x02", Truncated),
        (b"\x00\x02\x00", Malformed),
        (b"\x01\x02\x09", Malformed),
        (b"\x01\x02\x00" + b"\x07orders" + TOPIC_ID + b"\0extra", Malformed),
        (b"\xff" * 9, Malformed),
    ],
)
def test_what_is_no_metadata_record_is_refused(value: bytes | None, error: type[DecodeError]) -> None:
    """Frame version, message version and length are checked, as Kafka does."""
    with pytest.raises(error):
        CLUSTER_METADATA_SERDE.decode(None, value)


@pytest.mark.parametrize("record", [CoordinatorRecord(OffsetCommitKey(), None), CoordinatorRecord(TopicRecord(), None, 1)])
def test_only_metadata_records_at_their_versions_are_written(record: CoordinatorRecord) -> None:
    """Anything else is our mistake."""
    with pytest.raises(EncodeError):
        CLUSTER_METADATA_SERDE.encode_value(record)
