"""The short way of ConsumerGroupHeartbeat: what a member repeats is decoded once, and usual answers have an encoder of their own."""

from __future__ import annotations

import pytest

from coordinator_server.server.apis.consumer_group_heartbeat import heartbeat_encoder, heartbeat_reader
from protocol.codec import encode, encoder
from protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)


def body_of(request: ConsumerGroupHeartbeatRequest) -> bytes:
    return encode(request, 1)


def test_the_same_bytes_are_the_same_request() -> None:
    """Wherever they begin in their frame; others are decoded, and take their place."""
    read = heartbeat_reader(1)
    first, second = ConsumerGroupHeartbeatRequest("g", "m", 2), ConsumerGroupHeartbeatRequest("g", "m", 3)

    found, end = read(b"header" + body_of(first), 6)
    again, end_again = read(b"head" + body_of(first), 4)
    other, _ = read(body_of(second), 0)

    assert found == first
    assert again is found
    assert (end, end_again) == (6 + len(body_of(first)), 4 + len(body_of(first)))
    assert other == second
    assert read(body_of(second), 0)[0] is other


def test_what_is_left_over_and_what_is_long_is_decoded_each_time() -> None:
    """The first is refused by who called; the second would take memory."""
    read = heartbeat_reader(1)
    long = ConsumerGroupHeartbeatRequest("g", "m", 2, subscribed_topic_names=["x" * 300])
    short = body_of(ConsumerGroupHeartbeatRequest("g", "m", 2))

    assert read(body_of(long), 0)[0] is not read(body_of(long), 0)[0]
    assert [read(short + b"more", 0)[1] for _ in range(2)] == [len(short)] * 2


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    "response",
    [
        ConsumerGroupHeartbeatResponse(0, 0, None, "m", 2, 5000),
        ConsumerGroupHeartbeatResponse(7, 0, None, "m" * 126, 2**31 - 1, 5000),
        ConsumerGroupHeartbeatResponse(0, 0, None, "m" * 127, 2, 5000),
        ConsumerGroupHeartbeatResponse(0, 0, None, "é" * 63, -1, 0),
        ConsumerGroupHeartbeatResponse(0, 0, None, "é" * 64, -2, 0),
        ConsumerGroupHeartbeatResponse(0, 0, None, "", 2, 5000),
        ConsumerGroupHeartbeatResponse(0, 0, None, None, 2, 5000),
        ConsumerGroupHeartbeatResponse(0, 25, "who?"),
        ConsumerGroupHeartbeatResponse(0, 0, "no error", "m", 2, 5000),
        ConsumerGroupHeartbeatResponse(0, 0, None, "m", 2, 5000, Assignment([TopicPartitions(b"t" * 16, [1, 2])])),
        ConsumerGroupHeartbeatResponse(0, 0, None, "m", 2, 5000, Assignment()),
    ],
)
def test_answers_have_the_bytes_of_the_codec(response: ConsumerGroupHeartbeatResponse, version: int) -> None:
    """Behind what is in the buffer already."""
    out = bytearray(b"before")

    heartbeat_encoder(encoder(ConsumerGroupHeartbeatResponse, version))(response, out)

    assert bytes(out) == b"before" + encode(response, version)
