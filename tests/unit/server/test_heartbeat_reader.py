"""Requests that a member repeats byte for byte are decoded once."""

from __future__ import annotations

from coordinator_server.server.apis.consumer_group_heartbeat import heartbeat_reader
from protocol.codec import encode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


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
