"""ShareGroupHeartbeat (76): join, stay in and leave a share group (KIP-932). Version 0 was early access and is gone."""

from __future__ import annotations

from protocol.fields import ZERO_UUID, Int16, Int32, Item, Message, String, Uuid, request, response


class ShareGroupHeartbeatRequest(Message):
    kafka = request(76, "1", flexible="0+")
    group_id: String = ""
    member_id: String = ""
    member_epoch: Int32 = 0
    rack_id: String | None = None
    subscribed_topic_names: list[String] | None = None


class ShareGroupHeartbeatResponse(Message):
    kafka = response(76, "1", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    member_id: String | None = None
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    assignment: Assignment | None = None


class Assignment(Item):
    topic_partitions: list[TopicPartitions] = []


class TopicPartitions(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[Int32] = []
