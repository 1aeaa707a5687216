"""Bytes that mean harm: cut short, with sizes that are lies, nested without end. They are refused quickly, and in little memory."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Iterator
from random import Random
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.codec import decoder, encode
from protocol.errors import DecodeError, Malformed, Truncated
from protocol.frames import FrameSplitter
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest
from protocol.wire import write_uvarint
from tests.support.oracle import schema, versions_of
from tests.support.protocol_values import MESSAGES, as_struct, distinct, each_message, filled, prepare_skippers, random_value

MAX_VARINT = b"\xff\xff\xff\xff\x07"
OVERLONG_VARINT = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
TOO_LARGE_VARINT = b"\xff\xff\xff\xff\x0f"
DATA = b"\x00\x05hello" * 1000
MOST_BOMBS = int(os.environ.get("PROTOCOL_BOMBS", "6"))


def bytes_of(name: str, version: int, random: Random) -> bytes:
    value = random_value(schema(name, version), random)
    return schema(name, version).encode(value, unknown_tags={99: b"ab"})


@each_message
@settings(max_examples=5)
@given(seed=st.integers(0, 2**64 - 1))
def test_every_prefix_of_a_message_is_truncated(name: str, seed: int) -> None:
    """More bytes would have made it right, and the error says so."""
    for version in versions_of(name):
        random = Random(seed)
        data = bytes_of(name, version, random)
        read = decoder(MESSAGES[name], version)

        for size in {*range(min(len(data), 12)), *(random.randrange(len(data)) for _ in range(12 if data else 0))}:
            with pytest.raises(Truncated):
                read(data[:size], 0)


def bombs(left: int) -> Iterator[bytes]:
    """Sizes that are no sizes, or larger than what is left, in each of the forms that sizes have."""
    yield from (pack(">h", -2), pack(">h", -1), pack(">h", 0x7FFF), pack(">h", min(left + 1, 0x7FFF)))
    yield from (pack(">i", -2), pack(">i", -1), pack(">i", 2**31 - 1), pack(">i", left + 1))
    yield from (b"\0", write_uvarint(left + 2), MAX_VARINT, TOO_LARGE_VARINT, OVERLONG_VARINT)


def peak_of(step: Callable[[], object]) -> int | None:
    """The most memory that was taken while ``step`` refused something; None when it did not."""
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    try:
        step()
    except DecodeError:
        return tracemalloc.get_traced_memory()[1] - before
    return None


@each_message
def test_lies_about_sizes_cost_no_memory(name: str) -> None:
    """A bomb at any byte, whichever size, count or tag is there: at most four times the frame, and 64 KiB.

    At some of the bytes, that is: PROTOCOL_BOMBS=120 is for the others (``make torture``).
    ``unit/protocol/test_codec.py`` has one at every size.
    """
    tracemalloc.start()
    try:
        for version in versions_of(name):
            read = decoder(MESSAGES[name], version)
            data = encode(as_struct(name, version, filled(schema(name, version), distinct, (1, 1, 1))), version)
            prepare_skippers(name, version)
            places = range(len(data))
            for at in places if len(data) <= MOST_BOMBS else Random(f"{name} {version}").sample(places, MOST_BOMBS):
                for bomb in bombs(len(data) - at):
                    frame = data[:at] + bomb + data[at + len(bomb) :]
                    peak = peak_of(lambda read=read, frame=frame: read(frame, 0))  # type: ignore[misc]
                    assert peak is None or peak <= 4 * len(frame) + 65536, (version, at, bomb)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("tags", [MAX_VARINT, b"\xff\x7f", b"\x01\x07" + MAX_VARINT, b"\x01" + OVERLONG_VARINT])
def test_counts_of_tagged_fields_are_checked(tags: bytes) -> None:
    """Counts and sizes of tagged fields are believed no more than others."""
    data = encode(HeartbeatRequest("g", 1, "m"), 4)[:-1] + tags

    with pytest.raises(DecodeError):
        decoder(HeartbeatRequest, 4)(data, 0)


@pytest.mark.parametrize("count", [b"\x7f\xff\xff\xff", b"\x00\x00\x10\x00"])
def test_a_count_in_a_large_frame_is_checked_before_memory_is_taken(count: bytes) -> None:
    """Elements have a least size: a count that could not be is refused without a list for it."""
    data = count + DATA[:4000]
    tracemalloc.start()
    try:
        peak = peak_of(lambda: decoder(DescribeGroupsRequest, 0)(data, 0))
    finally:
        tracemalloc.stop()

    assert peak is not None
    assert peak <= 4 * len(data) + 65536


@pytest.mark.parametrize("size", [0x8001, 0x10000])
def test_long_strings_are_refused_in_the_compact_form_too(size: int) -> None:
    """Kafka's limit for strings is 32767 bytes however their size is written."""
    data = write_uvarint(size + 1) + b"s" * size

    with pytest.raises(Malformed, match="longer than 32767"):
        decoder(JoinGroupRequest, 9)(data, 0)


@given(
    streams=st.lists(st.binary(max_size=40), max_size=8),
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=20),
)
def test_frames_are_the_same_however_they_arrive(streams: list[bytes], cuts: list[int]) -> None:
    """Whole, one byte at a time, or cut anywhere."""
    stream = b"".join(pack(">i", len(frame)) + frame for frame in streams)

    assert FrameSplitter(100).feed(stream) == streams
    assert pieces(stream, [1]) == streams
    assert pieces(stream, cuts) == streams


@each_message
def test_every_sample_passes_the_splitter_whole_and_in_single_bytes(name: str) -> None:
    """And what comes out is the message that went in."""
    for version in versions_of(name):
        message = as_struct(name, version, filled(schema(name, version), distinct, (2, 1, 1)))
        data = encode(message, version)
        stream = (pack(">i", len(data)) + data) * 2

        for frames in (FrameSplitter(1 << 20).feed(stream), pieces(stream, [1])):
            assert [decoder(MESSAGES[name], version)(frame, 0) for frame in frames] == [(message, len(data))] * 2, version


def pieces(stream: bytes, sizes: list[int]) -> list[bytes]:
    """The frames of a stream that arrives in pieces of these sizes, again and again."""
    splitter = FrameSplitter(1 << 20)
    frames, at, turn = [], 0, 0
    while at < len(stream):
        size = sizes[turn % len(sizes)]
        frames += splitter.feed(stream[at : at + size])
        at, turn = at + size, turn + 1
    return frames
