"""ConsumerGroupDescribe (69): groups of the consumer protocol, member by member (KIP-848).

Version 1 adds the type of each member (KIP-1099).
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from protocol.fields import ZERO_UUID, Bool, Int8, Int16, Int32, Item, Message, String, Uuid, V, request, response


class ConsumerGroupDescribeRequest(Message):
    kafka = request(69, "0-1", flexible="0+")
    group_ids: list[String] = []
    include_authorized_operations: Bool = False


class ConsumerGroupDescribeResponse(Message):
    kafka = response(69, "0-1", flexible="0+")
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
    instance_id: String | None = None
    rack_id: String | None = None
    member_epoch: Int32 = 0
    client_id: String = ""
    client_host: String = ""
    subscribed_topic_names: list[String] = []
    subscribed_topic_regex: String | None = None
    assignment: Assignment = field(default_factory=Assignment)
    target_assignment: Assignment = field(default_factory=Assignment)
    member_type: Annotated[Int8, V("1+", ignorable=True)] = -1


class TopicPartitions(Item):
    topic_id: Uuid = ZERO_UUID
    topic_name: String = ""
    partitions: list[Int32] = []
