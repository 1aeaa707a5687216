"""Every message at every version, against the oracle."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest

from protocol.codec import decode, decoder, encode, encoder
from protocol.errors import DecodeError, EncodeError, Malformed, Truncated
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.find_coordinator import FindCoordinatorRequest
from protocol.messages.group_records import OffsetCommitValue
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.messages.metadata import MetadataRequest
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest
from tests.support.oracle import Field, SizeMark, schema, versions_of
from tests.support.protocol_values import (
    MESSAGES,
    as_struct,
    distinct,
    each_message,
    emptiest,
    filled,
    null_where_possible,
    prepare_skippers,
)

UNKNOWN_TAGS = {90: b"", 91: b"\x01\x02\x03", 300: b"x" * 200}
# Name: how each field is set, and how many entries arrays have, from the outermost on.
SHAPES: dict[str, tuple[Callable[[Field, int], Any], tuple[int, ...]]] = {
    "full": (distinct, (2, 2, 2)),
    "one entry": (distinct, (1, 1, 1)),
    "empty arrays": (distinct, (0, 0, 0)),
    "empty inner arrays": (distinct, (2, 0, 0)),
    "empty strings": (emptiest, (3, 3, 3)),
    "nulls": (null_where_possible, (3, 3, 3)),
    "long arrays": (distinct, (130, 1, 1)),
    "long inner arrays": (emptiest, (1, 130, 1)),
    "long innermost arrays": (emptiest, (1, 1, 130)),
}


@each_message
def test_default_value(name: str) -> None:
    """A message nobody touched is Kafka's default, in bytes and back."""
    message = MESSAGES[name]()

    for version in versions_of(name):
        data = encode(message, version)

        assert data == schema(name, version).encode({}), version
        assert decode(MESSAGES[name], version, data) == message, version


@each_message
def test_same_bytes_and_values_as_the_oracle(name: str) -> None:
    """What we write is what the schema says, and what the schema says we read."""
    for version, (shape, (pick, entries)) in product(versions_of(name), SHAPES.items()):
        value = filled(schema(name, version), pick, entries)
        data = schema(name, version).encode(value)
        message = as_struct(name, version, value)

        assert encode(message, version) == data, (version, shape)
        assert decode(MESSAGES[name], version, data) == message, (version, shape)


@each_message
def test_unknown_tagged_fields_are_skipped(name: str) -> None:
    """Tags of a future version, in every struct, change nothing."""
    for version in versions_of(name):
        value = filled(schema(name, version), distinct)

        data = schema(name, version).encode(value, unknown_tags=UNKNOWN_TAGS)

        assert decode(MESSAGES[name], version, data) == as_struct(name, version, value), version


@each_message
def test_every_prefix_is_truncated(name: str) -> None:
    """Cut anywhere, a message is Truncated and nothing else, and the error says of what."""
    for version in versions_of(name):
        data = schema(name, version).encode(filled(schema(name, version), distinct), unknown_tags={99: b"ab"})

        for size in range(len(data)):
            refused = _refused(name, version, data[:size])
            assert type(refused) is Truncated, (version, size)
            assert (refused.message, refused.version) == (name, version)
            assert refused.path
            assert refused.position is not None
            assert 0 <= refused.position <= size


@each_message
def test_wrong_sizes_are_values_or_refused(name: str) -> None:
    """A size that lies gives another value or our error."""
    for version in versions_of(name):
        data, marks = _marked(name, version)

        for mark in marks:
            for bomb in (*_large(mark), *_bombs(mark, len(data) - mark.end)):
                _refused(name, version, data[: mark.start] + bomb + data[mark.end :])


@each_message
def test_large_sizes_are_refused_before_memory_is_taken(name: str) -> None:
    """The largest sizes take no more memory than a few times the bytes.

    Smaller ones are not measured: to measure takes ten times as long.
    """
    for version in versions_of(name):
        data, marks = _marked(name, version)
        prepare_skippers(name, version)

        for mark in marks:
            for bomb in _large(mark):
                bad = data[: mark.start] + bomb + data[mark.end :]
                assert _peak(partial(_refused, name, version, bad)) <= 16 * len(bad) + 65536, (version, mark)


@each_message
def test_sizes_beyond_the_end_are_refused(name: str) -> None:
    """One more than what is left, and the largest there is."""
    for version in versions_of(name):
        data, marks = _marked(name, version)

        for mark in marks:
            left = len(data) - mark.end
            for size in (left + 1, 2**31 - 1 if mark.form != ">h" else 2**15 - 1):
                bad = data[: mark.start] + _size_bytes(mark, size) + data[mark.end :]
                assert _refused(name, version, bad) is not None, (version, mark, size)


def _marked(name: str, version: int) -> tuple[bytes, list[SizeMark]]:
    value = filled(schema(name, version), distinct, (2, 1, 1))
    writer = schema(name, version).encode_marked(value, unknown_tags={99: b"ab"})
    return writer.data, writer.marks


def _size_bytes(mark: SizeMark, size: int) -> bytes:
    if mark.form != "uvarint":
        return size.to_bytes(2 if mark.form == ">h" else 4, "big", signed=True)
    size = min(size + 1, 2**31 - 1)
    return bytes([size >> shift & 0x7F | 0x80 for shift in (0, 7, 14, 21)]) + bytes([size >> 28])


def _large(mark: SizeMark) -> list[bytes]:
    """The largest sizes of the form, and larger ones than it has."""
    largest = _size_bytes(mark, 2**15 - 1 if mark.form == ">h" else 2**31 - 1)
    return [largest, b"\xff" * 4 + b"\x0f"] if mark.form == "uvarint" else [largest]


def _bombs(mark: SizeMark, left: int) -> list[bytes]:
    """Other sizes that are wrong."""
    sizes = [_size_bytes(mark, size) for size in (left // 2, left + 1)]
    if mark.form == "uvarint":
        return [*sizes, b"\0", b"\xff" * 5 + b"\x01", b"\x81" + b"\x80" * 12 + b"\0", b"\xff" * 40]
    lowest = -(2**15) if mark.form == ">h" else -(2**31)
    return [*sizes, *(_size_bytes(mark, size) for size in (-1, -2, lowest))]


def _refused(name: str, version: int, data: bytes) -> DecodeError | None:
    """Return the error, or None if the bytes are a value."""
    try:
        decode(MESSAGES[name], version, data, allow_leftover=True)
    except DecodeError as refused:
        return refused
    return None


def _peak(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_overlong_varint_is_malformed() -> None:
    """Six bytes are too many for 32 bits, however small the number; five are fine."""
    fine, too_long = b"\x82\x80\x80\x80\x00", b"\x82\x80\x80\x80\x80\x00"
    rest = b"g\0\0\0\x01\x02m\0\0"

    assert decode(HeartbeatRequest, 4, fine + rest) == HeartbeatRequest("g", 1, "m", None)
    with pytest.raises(Malformed, match="HeartbeatRequest v4 group_id: a varint has more than five bytes"):
        decode(HeartbeatRequest, 4, too_long + rest)


def test_null_where_the_version_has_none_is_malformed() -> None:
    """The error names the field."""
    with pytest.raises(Malformed, match=r"JoinGroupRequest v6 group_id: null is not allowed at byte 0") as caught:
        decode(JoinGroupRequest, 6, b"\0" * 40)

    assert (caught.value.message, caught.value.version, caught.value.path, caught.value.position) == (
        "JoinGroupRequest",
        6,
        "group_id",
        0,
    )


def test_a_string_that_is_not_utf8_is_malformed() -> None:
    """Even though its size is right."""
    data = encode(HeartbeatRequest("group", 1, "member"), 0).replace(b"group", b"gr\xffup")

    with pytest.raises(Malformed, match="not UTF-8"):
        decode(HeartbeatRequest, 0, data)


def test_a_tagged_field_that_is_not_as_long_as_it_says_is_malformed() -> None:
    """Its size covers exactly its content."""
    value = OffsetCommitValue(offset=1, topic_id=b"\x07" * 16)
    data = encode(value, 4)
    at = data.rindex(b"\x10" + b"\x07" * 16)

    with pytest.raises(Malformed, match="a size is not that of its content"):
        decode(OffsetCommitValue, 4, data[:at] + b"\x11" + data[at + 1 :] + b"\x07")


def test_the_size_of_a_tagged_array_of_numbers_is_that_of_its_content() -> None:
    """It is worked out before: with one byte for size and count, or more for one of them, or for both."""
    name = "ConsumerGroupCurrentMemberAssignmentValue"
    for count in (1, 2, 30, 31, 32, 126, 127, 128, 5_000):
        numbers = list(range(count))
        topic = {"TopicId": b"\x07" * 16, "Partitions": numbers, "AssignmentEpochs": numbers}
        value = {"AssignedPartitions": [topic]}
        data = schema(name, 0).encode(value)

        assert encode(as_struct(name, 0, value), 0) == data, count
        assert decode(MESSAGES[name], 0, data) == as_struct(name, 0, value), count


def test_leftover_bytes_are_refused_unless_allowed() -> None:
    """decode() takes a whole value; decoders leave what is behind it to the caller."""
    data = encode(HeartbeatResponse(), 4) + b"more"

    with pytest.raises(Malformed, match="4 bytes are left over"):
        decode(HeartbeatResponse, 4, data)
    assert decode(HeartbeatResponse, 4, data, allow_leftover=True) == HeartbeatResponse()
    assert decoder(HeartbeatResponse, 4)(data, 0) == (HeartbeatResponse(), len(data) - 4)


def test_decoders_start_where_they_are_told() -> None:
    """The position is into the whole buffer, before and after."""
    data = encode(HeartbeatRequest("g", 1, "m"), 3)

    assert decoder(HeartbeatRequest, 3)(b"head" + data, 4) == (HeartbeatRequest("g", 1, "m"), 4 + len(data))


def test_a_mix_of_null_empty_and_set_metadata() -> None:
    """Partitions that look alike at first and then do not are read one by one."""
    texts = ["", "", None, "x", "", None]
    partitions = [OffsetCommitRequestPartition(index, index * 7, -1, text) for index, text in enumerate(texts)]

    for start in range(len(texts)):
        for version in OffsetCommitRequest.kafka.versions:
            topic = OffsetCommitRequestTopic("t" if version < 10 else "", partitions=partitions[start:])
            message = OffsetCommitRequest("g", topics=[topic])
            assert decode(OffsetCommitRequest, version, encode(message, version)) == message


@pytest.mark.parametrize(
    ("message", "version", "field"),
    [
        (HeartbeatRequest(group_instance_id="static"), 2, "group_instance_id"),
        (FindCoordinatorRequest(key_type=1), 0, "key_type"),
        (FindCoordinatorRequest(coordinator_keys=["a"]), 3, "coordinator_keys"),
        (FindCoordinatorRequest(key="a"), 4, "key"),
        (MetadataRequest(allow_auto_topic_creation=False), 3, "allow_auto_topic_creation"),
        (OffsetFetchRequest(topics=None), 8, "topics"),
        (JoinGroupResponse(skip_assignment=True), 8, "skip_assignment"),
    ],
)
def test_a_value_that_the_version_cannot_carry_is_refused(message: Any, version: int, field: str) -> None:
    """Kafka's rule for fields that are not ignorable."""
    with pytest.raises(EncodeError, match=rf"v{version} {field}: has a value that this version cannot carry"):
        encode(message, version)


def test_ignorable_fields_are_dropped_where_they_do_not_exist() -> None:
    """Kafka's rule for those that are."""
    message = JoinGroupRequest("g", rebalance_timeout_ms=5, reason="why")

    assert encode(message, 0) == encode(JoinGroupRequest("g"), 0)


@pytest.mark.parametrize(
    ("message", "version"),
    [
        (HeartbeatRequest(group_id=None), 0),  # type: ignore[arg-type]
        (HeartbeatRequest(group_id=None), 4),  # type: ignore[arg-type]
        (MetadataRequest(topics=None), 0),
        (OffsetFetchRequest(topics=None), 1),
        (JoinGroupResponse(protocol_name=None), 6),
        (CreateTopicsRequest(topics=None), 7),  # type: ignore[arg-type]
    ],
)
def test_null_is_refused_where_the_version_has_none(message: Any, version: int) -> None:
    """In strings and arrays, flexible or not."""
    with pytest.raises(EncodeError):
        encode(message, version)


@pytest.mark.parametrize("version", [0, 4])
def test_strings_have_an_int16_size_in_every_form(version: int) -> None:
    """32,767 bytes are the most, flexible or not."""
    assert decode(HeartbeatRequest, version, encode(HeartbeatRequest("x" * 32767), version)).group_id == "x" * 32767
    with pytest.raises(EncodeError):
        encode(HeartbeatRequest("x" * 32768), version)


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, "text", None, 1.5])
def test_numbers_that_do_not_fit_are_refused(value: Any) -> None:
    """Out of range or not a number at all."""
    with pytest.raises(EncodeError, match="HeartbeatRequest v0"):
        encode(HeartbeatRequest(generation_id=value), 0)


def test_a_surrogate_is_no_text() -> None:
    """It has no UTF-8 form."""
    with pytest.raises(EncodeError):
        encode(HeartbeatRequest("\ud800"), 0)


def test_a_topic_id_has_sixteen_bytes() -> None:
    """Shorter or longer ones are not padded or cut."""
    for size in (0, 15, 17):
        with pytest.raises(EncodeError, match="a UUID has 16 bytes"):
            encode(OffsetCommitRequest(topics=[OffsetCommitRequestTopic(topic_id=bytes(size))]), 10)


def test_a_refused_value_leaves_the_buffer_as_it_was() -> None:
    """What was written before stays, nothing of the refused message does."""
    out = bytearray(b"before")

    with pytest.raises(EncodeError):
        encoder(CreateTopicsRequest, 5)(CreateTopicsRequest([CreatableTopic("t"), CreatableTopic(None)]), out)  # type: ignore[arg-type]
    assert out == b"before"


@pytest.mark.parametrize("lookup", [decoder, encoder])
def test_versions_that_kafka_lacks_are_lookup_errors(lookup: Callable[..., Any]) -> None:
    """They are the caller's mistake, not the peer's: who serves asks the API table first."""
    for version in (-1, 5, 100):
        with pytest.raises(LookupError):
            lookup(HeartbeatRequest, version)
