"""What consumers put into JoinGroup and SyncGroup, in the protocol type "consumer". An int16 version precedes each."""

from __future__ import annotations

from typing import Annotated, Final

from protocol.fields import Bytes, Int32, Item, Message, String, V, data

CONSUMER: Final = "consumer"
"""The protocol type of consumers in JoinGroup, SyncGroup and ListGroups."""


class ConsumerProtocolSubscription(Message):
    kafka = data("0-3")
    topics: list[String] = []
    user_data: Bytes | None = None
    owned_partitions: Annotated[list[TopicPartition], V("1+", ignorable=True)] = []
    generation_id: Annotated[Int32, V("2+", ignorable=True)] = -1
    rack_id: Annotated[String | None, V("3+", ignorable=True)] = None


class TopicPartition(Item):
    topic: String = ""
    partitions: list[Int32] = []


class ConsumerProtocolAssignment(Message):
    kafka = data("0-3")
    assigned_partitions: list[TopicPartition] = []
    user_data: Bytes | None = None
