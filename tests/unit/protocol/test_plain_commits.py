"""Plain OffsetCommit requests say what the general decoder reads, and everything else is left to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from protocol.codec import decoder, encoder
from protocol.errors import DecodeError
from protocol.fields import ZERO_UUID, Message
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from protocol.plain_commits import (
    FIRST_VERSION,
    LAST_VERSION,
    MISSES,
    MOST_ID_BYTES,
    MOST_NAME_BYTES,
    MOST_ROWS,
    MOST_TOPICS,
    SKIPPED,
    CommitReader,
    CommitShape,
    PlainCommit,
    commit_response_encoder,
)

HEADER = b"what came before"
NAMES = st.text(max_size=6) | st.sampled_from(["n" * 126, "n" * 127, "é" * 100])
INDEXES = st.integers(-(2**31), 2**31 - 1)
VERSIONS = st.integers(FIRST_VERSION, LAST_VERSION)


def reader(version: int) -> Callable[[bytes, int], tuple[OffsetCommitRequest | PlainCommit[CommitShape], int]]:
    """What decodes the requests of one connection."""
    return CommitReader(version, CommitShape).read


def requests(metadata: st.SearchStrategy[str | None]) -> st.SearchStrategy[OffsetCommitRequest]:
    partitions = st.builds(OffsetCommitRequestPartition, INDEXES, st.integers(-(2**63), 2**63 - 1), INDEXES, metadata)
    topics = st.builds(
        OffsetCommitRequestTopic, NAMES, st.binary(min_size=16, max_size=16), st.lists(partitions, min_size=1, max_size=5)
    )
    return st.builds(
        OffsetCommitRequest,
        NAMES,
        INDEXES,
        NAMES,
        st.none() | NAMES,
        retention_time_ms=st.just(-1),
        topics=st.lists(topics, min_size=1, max_size=3),
    )


PLAIN = st.sampled_from([None, ""]).flatmap(lambda metadata: requests(st.just(metadata)))
ANY = requests(st.sampled_from([None, "", "note"]))


def encoded(request: OffsetCommitRequest, version: int) -> bytes:
    """As it stands in a frame."""
    for topic in request.topics:
        if version >= 10:
            topic.name = ""
        else:
            topic.topic_id = ZERO_UUID
    if version < 7:
        request.group_instance_id = None
    out = bytearray(HEADER)
    encoder(OffsetCommitRequest, version)(request, out)
    return bytes(out)


def normal(request: Message) -> Message:
    """No metadata and empty metadata are the same to a coordinator."""
    assert isinstance(request, OffsetCommitRequest)
    for topic in request.topics:
        for partition in topic.partitions:
            partition.committed_metadata = partition.committed_metadata or None
    return request


def said(frame: bytes, version: int, reader: object = None) -> Message | str:
    """What the general decoder, or a reader, makes of a frame: a refusal is told in words."""
    read = reader if callable(reader) else decoder(OffsetCommitRequest, version)
    try:
        request = read(frame, len(HEADER))[0]
    except DecodeError as refused:
        return str(refused)
    return normal(request.spelled_out() if isinstance(request, PlainCommit) else request)


@given(PLAIN, VERSIONS)
def test_a_plain_request_is_read_as_what_it_says(request: OffsetCommitRequest, version: int) -> None:
    """Also where the request before had the same shape."""
    frame = encoded(request, version)
    read = reader(version)

    for _ in range(2):
        plain, end = read(frame, len(HEADER))

        assert isinstance(plain, PlainCommit)
        assert end == len(frame)
        assert normal(plain.spelled_out()) == said(frame, version)
        assert plain.group_id == request.group_id


@given(ANY, st.data(), VERSIONS)
def test_whatever_bytes_come_a_reader_says_what_the_general_decoder_says(
    request: OffsetCommitRequest, data: st.DataObject, version: int
) -> None:
    """A reader remembers one request; then come others that differ from it in a byte, in length, or altogether."""
    frame = encoded(request, version)
    read = reader(version)
    read(frame, len(HEADER))
    for _ in range(3):
        other = bytearray(frame)
        place = data.draw(st.integers(len(HEADER), len(frame) - 1))
        change = data.draw(st.sampled_from(["byte", "cut", "insert"]))
        if change == "byte":
            other[place] = data.draw(st.integers(0, 255))
        elif change == "cut":
            del other[place : data.draw(st.sampled_from([place + 1, len(frame)]))]
        else:
            other[place:place] = data.draw(st.binary(min_size=1, max_size=3))

        assert said(bytes(other), version, read) == said(bytes(other), version)
    assert said(frame, version, read) == said(frame, version)


@pytest.mark.parametrize("metadata", [None, ""])
@pytest.mark.parametrize("version", range(FIRST_VERSION, LAST_VERSION + 1))
def test_a_request_that_differs_in_one_byte_from_the_last_is_not_taken_for_it(version: int, metadata: str | None) -> None:
    """Every byte counts: of names, counts and rows, and those that say that a row has no metadata."""
    topics = [
        OffsetCommitRequestTopic(
            name, name.encode() * 16, [OffsetCommitRequestPartition(index, 5, 1, metadata) for index in (0, 7)]
        )
        for name in "ab"
    ]
    frame = encoded(OffsetCommitRequest("g", 1, "m", "i", topics=topics), version)
    for place in range(len(HEADER), len(frame)):
        for value in {0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, frame[place] ^ 1} - {frame[place]}:
            read = reader(version)
            assert isinstance(read(frame, len(HEADER))[0], PlainCommit)
            other = frame[:place] + bytes([value]) + frame[place + 1 :]

            assert said(other, version, read) == said(other, version)


@given(PLAIN, VERSIONS)
def test_the_answer_of_a_shape_is_the_one_that_accepts_every_partition(request: OffsetCommitRequest, version: int) -> None:
    """Ready bytes and general responses go through the same encoder."""
    plain, _ = reader(version)(encoded(request, version), len(HEADER))
    assert isinstance(plain, PlainCommit)
    topics = [
        OffsetCommitResponseTopic(
            topic.name, topic.topic_id, [OffsetCommitResponsePartition(each.partition_index) for each in topic.partitions]
        )
        for topic in request.topics
    ]
    encode = commit_response_encoder(encoder(OffsetCommitResponse, version))
    ready, general = bytearray(b"prefix"), bytearray(b"prefix")

    encode(plain.shape.accepted(), ready)
    encode(OffsetCommitResponse(topics=topics), general)

    assert ready == general


def test_who_never_commits_the_same_partitions_again_is_read_the_general_way() -> None:
    """But for a try from time to time, so that who comes to do so is noticed."""
    version = 9
    read = reader(version)

    def is_plain(partition: int, metadata: str = "") -> bool:
        topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(partition, 5, -1, metadata)])]
        frame = encoded(OffsetCommitRequest("g", 1, "m", topics=topics), version)
        return isinstance(read(frame, len(HEADER))[0], PlainCommit)

    ever_new = [is_plain(partition) for partition in range(10 * SKIPPED)]
    the_same = [is_plain(0) for _ in range(3 * SKIPPED)]

    assert sum(ever_new) < 20
    assert all(the_same[2 * SKIPPED :])
    # Those with metadata have no shape at all, and are not looked at for one each time.
    assert not any(is_plain(0, "note") for _ in range(MISSES))
    assert not any(is_plain(0) for _ in range(SKIPPED))
    assert is_plain(0)


@given(st.sampled_from([(1, MOST_ROWS), (1, MOST_ROWS + 1), (MOST_TOPICS, 1), (MOST_TOPICS + 1, 1)]), VERSIONS)
@example((2, MOST_ROWS), 9)
def test_only_what_is_small_is_remembered(size: tuple[int, int], version: int) -> None:
    """Larger requests are read the general way."""
    topics, rows = size
    partitions = [OffsetCommitRequestPartition(index, 5) for index in range(rows)]
    request = OffsetCommitRequest("g", 1, "m", topics=[OffsetCommitRequestTopic("t", partitions=partitions)] * topics)

    read, _ = reader(version)(encoded(request, version), len(HEADER))

    assert isinstance(read, PlainCommit) == (topics <= MOST_TOPICS and topics * rows <= MOST_ROWS)


@given(st.sampled_from(["group_id", "member_id", "topic"]), st.booleans(), st.integers(FIRST_VERSION, LAST_VERSION - 1))
def test_a_request_with_long_names_is_not_remembered(field: str, is_long: bool, version: int) -> None:
    """A connection keeps its last shape, so what a shape takes has a bound."""
    most = MOST_NAME_BYTES if field == "topic" else MOST_ID_BYTES - 40
    text = "n" * (most + 100 * is_long)
    topics = [
        OffsetCommitRequestTopic(text if field == "topic" else "t", ZERO_UUID, [OffsetCommitRequestPartition(0, 1, -1, None)])
    ]
    request = OffsetCommitRequest("g", 1, "m", None, topics=topics)
    if field != "topic":
        setattr(request, field, text)
    out = bytearray()
    encoder(OffsetCommitRequest, version)(request, out)

    read, _ = reader(version)(bytes(out), 0)

    assert isinstance(read, PlainCommit) == (not is_long)
    assert (read.spelled_out() if isinstance(read, PlainCommit) else read) == request
