"""ConsumerGroupHeartbeat (68): join, stay in and leave a group whose coordinator assigns (KIP-848).

Null and -1 mean "as in the last heartbeat". Version 1 adds the regular expression, and members choose their own ids
(KIP-1082).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Int16, Int32, Item, Message, String, Uuid, V, request, response


class ConsumerGroupHeartbeatRequest(Message):
    kafka = request(68, "0-1", flexible="0+")
    group_id: String = ""
    member_id: String = ""
    member_epoch: Int32 = 0
    instance_id: String | None = None
    rack_id: String | None = None
    rebalance_timeout_ms: Int32 = -1
    subscribed_topic_names: list[String] | None = None
    subscribed_topic_regex: Annotated[String | None, V("1+")] = None
    server_assignor: String | None = None
    topic_partitions: list[TopicPartitions] | None = None


class TopicPartitions(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[Int32] = []


class ConsumerGroupHeartbeatResponse(Message):
    kafka = response(68, "0-1", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    member_id: String | None = None
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    assignment: Assignment | None = None


class Assignment(Item):
    topic_partitions: list[TopicPartitions] = []
