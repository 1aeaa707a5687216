"""The memory that the elements of a request may take: a peer chooses their number, and a hundredfold of its bytes."""

from __future__ import annotations

import tracemalloc

import pytest

from protocol.codec import decoder, encoder
from protocol.errors import Malformed
from protocol.fields import Message
from protocol.generate.costs import REQUEST_LIMIT
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from protocol.refusal import verify


def encoded(message: Message, version: int) -> bytes:
    out = bytearray()
    encoder(type(message), version)(message, out)
    return bytes(out)


@pytest.mark.parametrize(
    ("message", "version"),
    [
        (DescribeGroupsRequest(groups=["x"] * 300_000), 5),
        (FetchRequest(topics=[FetchTopic("x", partitions=[FetchPartition()] * 300_000)]), 11),
        (FetchRequest(topics=[FetchTopic("x")] * 300_000), 11),
        (FetchRequest(topics=[FetchTopic("x", partitions=[FetchPartition()] * 20)] * 10_000), 11),
    ],
)
def test_a_request_with_too_many_elements_is_refused_before_they_take_memory(message: Message, version: int) -> None:
    frame = encoded(message, version)
    decode = decoder(type(message), version)
    tracemalloc.start()
    with pytest.raises(Malformed, match="more elements than a request may have"):
        decode(frame, 0)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < REQUEST_LIMIT + 4 * len(frame)


def test_the_limit_is_inclusive() -> None:
    """A message may use all of its memory, and not one byte more."""
    message = DescribeGroupsRequest(groups=["x"])
    frame = encoded(message, 5)

    assert verify(DescribeGroupsRequest, 5, frame, 0, len(frame), 0) == 0
    with pytest.raises(Malformed, match="more elements than a request may have"):
        verify(DescribeGroupsRequest, 5, frame, 0, len(frame), -1)


def test_what_clients_send_is_far_below_the_limit() -> None:
    requests: list[tuple[Message, int]] = [
        (DescribeGroupsRequest(groups=["a-group-with-a-usual-name"] * 100_000), 5),
        (OffsetFetchRequest("group", [OffsetFetchRequestTopic("topic", [*range(400_000)])]), 7),
        (FetchRequest(topics=[FetchTopic("x", partitions=[FetchPartition()] * 20_000)]), 11),
    ]
    for message, version in requests:
        assert decoder(type(message), version)(encoded(message, version), 0)[0] == message


def test_a_response_has_no_limit() -> None:
    message = ListGroupsResponse(groups=[ListedGroup("x", "consumer")] * 200_000)

    assert decoder(ListGroupsResponse, 4)(encoded(message, 4), 0)[0] == message
