"""Streams to frames, frames to headers."""

from __future__ import annotations

import struct
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.api import APIS
from protocol.errors import DecodeError, Malformed, Truncated
from protocol.frames import FrameSplitter, decode_request_header, decode_response, encode_request, encode_response
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.headers import RequestHeader
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.support.batches import in_batches
from tests.support.oracle import schema

FRAMES = [b"", b"one", b"x" * 300, b"", b"last"]
FRAMES_AFTER = struct.pack(">i", 3) + b"end"
STREAM = b"".join(struct.pack(">i", len(frame)) + frame for frame in FRAMES)


def test_a_stream_read_whole() -> None:
    """Every frame at once, empty ones too."""
    assert FrameSplitter(1000).feed(STREAM) == FRAMES


def test_a_stream_read_one_byte_at_a_time() -> None:
    """Each frame comes with its last byte."""
    splitter = FrameSplitter(1000)

    fed = [splitter.feed(STREAM[at : at + 1]) for at in range(len(STREAM))]

    assert [frame for frames in fed for frame in frames] == FRAMES
    assert fed[3] == [b""]
    assert fed[4 + 4 + 3 - 1] == [b"one"]


@given(st.lists(st.integers(0, len(STREAM)), max_size=10))
def test_a_stream_cut_anywhere(cuts: list[int]) -> None:
    """How it is cut makes no difference."""
    splitter = FrameSplitter(1000)
    edges = [0, *sorted(cuts), len(STREAM)]

    fed = [splitter.feed(STREAM[low:high]) for low, high in pairwise(edges)]

    assert [frame for frames in fed for frame in frames] == FRAMES


@pytest.mark.parametrize("piece", [1 << 10, 1 << 16, 5_000_000])
def test_a_large_frame_is_in_memory_twice_at_most(piece: int) -> None:
    """Once in the pieces that were collected, once as the frame."""
    size = 8 << 20
    splitter = FrameSplitter(size)
    stream = struct.pack(">i", size) + bytes(size)
    pieces = [stream[at : at + piece] for at in range(0, len(stream), piece)]
    pieces[-1] += FRAMES_AFTER
    tracemalloc.start()
    try:
        frames = [frame for each in pieces for frame in splitter.feed(each)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert [len(frame) for frame in frames] == [size, 3]
    assert splitter.held == 0
    # A bytearray grows by an eighth.
    assert peak < 2.25 * size + piece


def test_what_is_held_of_an_incomplete_frame_is_known() -> None:
    splitter = FrameSplitter(1000)
    held = []
    for at in range(len(STREAM)):
        splitter.feed(STREAM[at : at + 1])
        held.append(splitter.held)

    assert held == [at for frame in FRAMES for at in [*range(1, len(frame) + 4), 0]]


@pytest.mark.parametrize("length", [-1, -(2**31), 1001, 2**31 - 1])
def test_a_length_out_of_bounds_is_refused_at_its_fourth_byte(length: int) -> None:
    """Before anything of the frame is there to be buffered, however the length arrives."""
    data = struct.pack(">i", length)
    slow = FrameSplitter(1000)

    with pytest.raises(Malformed, match="0 to 1000 are allowed"):
        FrameSplitter(1000).feed(data)
    assert slow.feed(data[:3]) == []
    with pytest.raises(Malformed):
        slow.feed(data[3:])


@pytest.mark.parametrize("begins", ["160301", "150303"], ids=["handshake", "alert"])
def test_bytes_of_tls_are_called_that(begins: str) -> None:
    """Who reads the line at night knows that one side uses TLS and the other does not."""
    with pytest.raises(Malformed, match=r"the bytes are TLS.*security\.protocol"):
        FrameSplitter(1000).feed(bytes.fromhex(begins) + bytes(200))


@pytest.mark.parametrize("piece", [1, 4, 9, 18])
def test_the_largest_frame_is_allowed(piece: int) -> None:
    """The bound is inclusive, whether a frame comes alone, in pieces, or with the next one."""
    stream, splitter = b"\0\0\0\x05hello\0\0\0\x05world", FrameSplitter(5)

    fed = [splitter.feed(stream[at : at + piece]) for at in range(0, len(stream), piece)]

    assert [frame for frames in fed for frame in frames] == [b"hello", b"world"]


@in_batches("key, version", [(api.key, version) for api in APIS.values() for version in api.versions], tests=2)
def test_request_headers_of_every_served_version(key: int, version: int) -> None:
    """The header's version follows from the API's; the position is that of the message."""
    header_version = APIS[key].request_header_version(version)

    for client_id in ("client", "", None, "ü" * 100):
        fields = {"RequestApiKey": key, "RequestApiVersion": version, "CorrelationId": 77, "ClientId": client_id}
        data = schema("RequestHeader", header_version).encode(fields, unknown_tags={5: b"new"})
        assert decode_request_header(data + b"message") == (RequestHeader(key, version, 77, client_id), len(data))


def test_an_unknown_version_of_api_versions_has_a_readable_header() -> None:
    """It must be answered, so its correlation id must be found; the newest header form is assumed."""
    frame = schema("RequestHeader", 2).encode(
        {"RequestApiKey": 18, "RequestApiVersion": 99, "CorrelationId": 5, "ClientId": "new"}
    )

    assert decode_request_header(frame) == (RequestHeader(18, 99, 5, "new"), len(frame))


def test_the_header_of_an_unserved_api_is_read_as_far_as_it_goes() -> None:
    """Key and version are for the log line; the client id may be there or not."""
    fixed = struct.pack(">hhi", 999, 3, 5)

    assert decode_request_header(fixed + b"\0\x02id") == (RequestHeader(999, 3, 5, "id"), 12)
    assert decode_request_header(fixed + b"\x7f\xff") == (RequestHeader(999, 3, 5, None), 8)


@pytest.mark.parametrize("key", [12, 999])
def test_a_frame_that_ends_inside_the_fixed_header_is_truncated(key: int) -> None:
    """Served or not."""
    frame = struct.pack(">hhi", key, 0, 5)

    for size in range(len(frame)):
        with pytest.raises(Truncated):
            decode_request_header(frame[:size])


@given(st.binary(max_size=40))
def test_any_frame_has_a_header_or_our_error(frame: bytes) -> None:
    """No other exception."""
    try:
        _, position = decode_request_header(frame)
    except DecodeError:
        return
    assert position <= len(frame)


def test_a_request_frame_is_length_header_message() -> None:
    """As the oracle builds it."""
    header = {"RequestApiKey": 12, "RequestApiVersion": 4, "CorrelationId": 9, "ClientId": None}
    body = {"GroupId": "g", "GenerationId": 1, "MemberId": "m", "GroupInstanceId": None}
    expected = schema("RequestHeader", 2).encode(header) + schema("HeartbeatRequest", 4).encode(body)

    assert encode_request(12, 4, 9, None, HeartbeatRequest("g", 1, "m")) == struct.pack(">i", len(expected)) + expected


@pytest.mark.parametrize("version", range(5))
def test_responses_go_out_and_come_back(version: int) -> None:
    """Correlation id and message."""
    (frame,) = FrameSplitter(100).feed(encode_response(12, version, 41, HeartbeatResponse(error_code=27)))

    assert decode_response(12, version, frame) == (41, HeartbeatResponse(error_code=27))


def test_the_answer_to_api_versions_has_the_oldest_header() -> None:
    """Even where the message is flexible (KIP-511)."""
    frame = encode_response(18, 4, 41, ApiVersionsResponse(error_code=35))[4:]

    assert frame == struct.pack(">i", 41) + schema("ApiVersionsResponse", 4).encode({"ErrorCode": 35})
    assert encode_request(18, 4, 1, "c", ApiVersionsRequest("a", "b"))[4 + 8 + 3] == 0
