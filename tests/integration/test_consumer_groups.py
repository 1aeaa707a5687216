"""Consumer groups (KIP-848) over the wire: heartbeats."""

from __future__ import annotations

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from tests.support.asking import create_topic
from tests.support.client import Client

Address = tuple[str, int]


@pytest.mark.parametrize("version", [0, 1])
def test_a_member_joins_stays_and_leaves(address: Address, fresh_name: str, version: int) -> None:
    """It gets all partitions of its topic in epoch 2; a steady heartbeat has no assignment."""
    with Client(address) as client:
        create_topic(client, fresh_name, 3)
        join = ConsumerGroupHeartbeatRequest(fresh_name, "m", 0, None, None, 60_000, [fresh_name], None, None, [])
        joined = client.ask(join, version, ConsumerGroupHeartbeatResponse)
        steady = client.ask(ConsumerGroupHeartbeatRequest(fresh_name, "m", 2), version, ConsumerGroupHeartbeatResponse)
        left = client.ask(ConsumerGroupHeartbeatRequest(fresh_name, "m", -1), version, ConsumerGroupHeartbeatResponse)
        gone = client.ask(ConsumerGroupHeartbeatRequest(fresh_name, "m", 2), version, ConsumerGroupHeartbeatResponse)

    assert (joined.error_code, joined.member_id, joined.member_epoch, joined.heartbeat_interval_ms) == (0, "m", 2, 5000)
    assert joined.assignment is not None
    assert [topic.partitions for topic in joined.assignment.topic_partitions] == [[0, 1, 2]]
    assert (steady.error_code, steady.member_epoch, steady.assignment) == (0, 2, None)
    assert (left.error_code, left.member_epoch) == (0, -1)
    assert gone.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert gone.error_message == f"Member m is not a member of group {fresh_name}."
