"""Produce: every partition is refused, at once or in steps."""

from __future__ import annotations

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.server.apis.produce import PRODUCE_API, WHY
from coordinator_server.server.exchange.dispatch import LARGE_FRAME_BYTES
from protocol.error_codes import ErrorCode
from protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from tests.support.api_peer import ApiPeer

ORDERS = Topic("orders", b"o" * 16, 3)


class Site:
    """A node with the topic ``orders``."""

    internal = ()

    def __init__(self) -> None:
        self.image = self

    def topic(self, name: str) -> Topic | None:
        return ORDERS if name == "orders" else None

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        return ORDERS if topic_id == ORDERS.topic_id else None

    def check_current(self) -> None:
        """It is."""


def request_of(version: int, size: int) -> ProduceRequest:
    """For two partitions of ``orders``, and one of a topic that is not there."""
    topics = []
    for name, topic_id, partitions in (("orders", ORDERS.topic_id, [0, 1]), ("unknown", b"u" * 16, [0])):
        data = [PartitionProduceData(index, bytes(size)) for index in partitions]
        topics.append(TopicProduceData("", topic_id, data) if version >= 13 else TopicProduceData(name, partition_data=data))
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics)


@pytest.mark.parametrize("version", [3, 8, 12, 13])
@pytest.mark.parametrize("size", [10, LARGE_FRAME_BYTES])
def test_every_partition_is_refused(version: int, size: int) -> None:
    """With an error that producers do not try again for; of a topic that is not there, with that.

    Small requests are answered at once.
    """
    peer = ApiPeer(PRODUCE_API, Site())
    peer.arrive(request_of(version, size), version)
    assert peer.is_waiting is (size >= LARGE_FRAME_BYTES)

    peer.turns(1)
    answer = peer.receive(version)

    unknown = ErrorCode.UNKNOWN_TOPIC_ID if version >= 13 else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert isinstance(answer, ProduceResponse)
    assert [[(each.index, each.error_code) for each in topic.partition_responses] for topic in answer.responses] == [
        [(0, ErrorCode.POLICY_VIOLATION), (1, ErrorCode.POLICY_VIOLATION)],
        [(0, unknown)],
    ]
    if version >= 8:
        assert answer.responses[0].partition_responses[0].error_message == WHY
