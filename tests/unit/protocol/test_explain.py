"""A refused message is explained: which field, and where."""

from __future__ import annotations

import pytest

from protocol.codec import decode, decoder, encode
from protocol.errors import DecodeError, Malformed, Truncated
from protocol.explain import explain
from protocol.messages.consumer_group_records import ClassicMemberMetadata, ClassicProtocol, ConsumerGroupMemberMetadataValue
from protocol.messages.group_records import OffsetCommitValue
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.batches import in_batches
from tests.support.golden import vectors
from tests.support.protocol_values import MESSAGES

COMMIT = OffsetCommitRequest(
    "group",
    topics=[
        OffsetCommitRequestTopic("first", partitions=[OffsetCommitRequestPartition(0, 1, -1, "zero")]),
        OffsetCommitRequestTopic(
            "second", partitions=[OffsetCommitRequestPartition(0, 1, -1, "one"), OffsetCommitRequestPartition(1, 2, -1, "two")]
        ),
    ],
)


@pytest.mark.parametrize("version", range(2, 10))
@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (b"two", b"t\xffo", "topics[1].partitions[1].committed_metadata"),
        (b"zero", b"z\xffro", "topics[0].partitions[0].committed_metadata"),
        (b"second", b"s\xffcond", "topics[1].name"),
        (b"group", b"\xffroup", "group_id"),
    ],
)
def test_the_path_leads_to_the_field(version: int, old: bytes, new: bytes, path: str) -> None:
    """Through arrays by index, and the position is that of the very byte."""
    data = encode(COMMIT, version)
    bad = data.replace(old, new)

    with pytest.raises(Malformed) as caught:
        decode(OffsetCommitRequest, version, bad)
    assert (caught.value.message, caught.value.version, caught.value.path) == ("OffsetCommitRequest", version, path)
    assert caught.value.position == bad.index(b"\xff", data.index(old))


def test_the_position_counts_from_the_start_of_the_buffer() -> None:
    """Whatever stands before the message."""
    data = encode(HeartbeatRequest("group", 1, "member"), 0).replace(b"member", b"m\xffmber")

    with pytest.raises(Malformed) as caught:
        decoder(HeartbeatRequest, 0)(b"head" + data, 4)
    assert caught.value.position == 4 + data.index(b"\xff")
    assert str(caught.value) == f"HeartbeatRequest v0 member_id: a string is not UTF-8 at byte {4 + data.index(0xFF)}"


@pytest.mark.parametrize(
    ("data", "error", "path"),
    [
        (b"", Truncated, "offset"),
        (b"\0" * 8 + b"\0\0\0\1" + b"\x05ab", Truncated, "metadata"),
        (b"\0" * 12 + b"\0", Malformed, "metadata"),
        (b"\0" * 12 + b"\x01" + b"\0" * 8, Truncated, "tagged fields"),
        (b"\0" * 12 + b"\x01" + b"\0" * 8 + b"\x01\x07\x09ab", Truncated, "tagged fields"),
        (b"\0" * 12 + b"\x01" + b"\0" * 8 + b"\x01\x00\x02ab", Truncated, "topic_id"),
        (b"\0" * 12 + b"\x01" + b"\0" * 8 + b"\x01\x00\x11" + b"x" * 17, Malformed, "topic_id"),
        (b"\0" * 12 + b"\xff\xff\xff\xff\xff\x01", Malformed, "metadata"),
    ],
)
def test_every_kind_of_fault_has_its_field(data: bytes, error: type[DecodeError], path: str) -> None:
    """Fixed fields, sizes, nulls, varints and tagged fields."""
    with pytest.raises(error) as caught:
        decode(OffsetCommitValue, 4, data)
    assert caught.value.path == path


def test_a_struct_in_a_tagged_field() -> None:
    """Its fields come after the tagged one's name."""
    value = ConsumerGroupMemberMetadataValue(
        classic_member_metadata=ClassicMemberMetadata(5, [ClassicProtocol("range", b"x"), ClassicProtocol("sticky", b"y")])
    )
    data = encode(value, 0).replace(b"sticky", b"st\xffcky")

    with pytest.raises(Malformed) as caught:
        decode(ConsumerGroupMemberMetadataValue, 0, data)
    assert caught.value.path == "classic_member_metadata.supported_protocols[1].name"


@in_batches("name", MESSAGES)
def test_there_is_nothing_wrong_with_what_kafka_writes(name: str) -> None:
    """The walk steps over everything that a decoder reads."""
    for vector in vectors()[name][::9]:
        assert explain(MESSAGES[name], vector["version"], bytes.fromhex(vector["hex"]), 0) is None


@pytest.mark.parametrize("rows", [100, 100_000])
@pytest.mark.parametrize("version", [2, 9])
def test_the_field_is_named_however_large_the_message_is(version: int, rows: int) -> None:
    """By a server's decoder, too."""
    partitions = [OffsetCommitRequestPartition(index, index, -1, f"{index % 7}" * (index % 5)) for index in range(rows)]
    topics = [OffsetCommitRequestTopic("t", partitions=partitions[:3]), OffsetCommitRequestTopic("u", partitions=partitions)]
    data = encode(OffsetCommitRequest("g", topics=topics), version)
    end = len(data) - (4 if version == 9 else 1)  # the tagged fields of partition, topic and message

    with pytest.raises(Truncated) as caught:
        decoder(OffsetCommitRequest, version)(data[:end], 0)
    assert (caught.value.message, caught.value.version) == ("OffsetCommitRequest", version)
    assert caught.value.path == f"topics[1].partitions[{rows - 1}].committed_metadata"
    assert caught.value.position is not None
