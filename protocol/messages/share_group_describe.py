"""ShareGroupDescribe (77): share groups, member by member (KIP-932). Version 0 was early access and is gone."""

from __future__ import annotations

from msgspec import field

from protocol.fields import ZERO_UUID, Bool, Int16, Int32, Item, Message, String, Uuid, request, response


class ShareGroupDescribeRequest(Message):
    kafka = request(77, "1", flexible="0+")
    group_ids: list[String] = []
    include_authorized_operations: Bool = False


class ShareGroupDescribeResponse(Message):
    kafka = response(77, "1", flexible="0+")
    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup] = []


class DescribedGroup(Item):
    error_code: Int16 = 0
    error_message: String | None = None
    group_id: String = ""
    group_state: String = ""
    group_epoch: Int32 = 0
    assignment_epoch: Int32 = 0
    assignor_name: String = ""
    members: list[Member] = []
    authorized_operations: Int32 = -(2**31)


class Assignment(Item):
    topic_partitions: list[TopicPartitions] = []


class Member(Item):
    member_id: String = ""
    rack_id: String | None = None
    member_epoch: Int32 = 0
    client_id: String = ""
    client_host: String = ""
    subscribed_topic_names: list[String] = []
    assignment: Assignment = field(default_factory=Assignment)


class TopicPartitions(Item):
    topic_id: Uuid = ZERO_UUID
    topic_name: String = ""
    partitions: list[Int32] = []
