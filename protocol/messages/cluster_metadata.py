"""Records of the cluster's own log (KRaft): which topics there are, the settings of topics and groups, and the producer ids given out.

PartitionRecord version 1 adds directories (KIP-858), 2 eligible leader replicas (KIP-966).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Int8, Int32, Int64, Message, String, Uuid, V, metadata_record


class TopicRecord(Message):
    kafka = metadata_record(2, "0", flexible="0+")
    name: String = ""
    topic_id: Uuid = ZERO_UUID


class PartitionRecord(Message):
    kafka = metadata_record(3, "0-2", flexible="0+")
    partition_id: Int32 = -1
    topic_id: Uuid = ZERO_UUID
    replicas: list[Int32] = []
    isr: list[Int32] = []
    removing_replicas: list[Int32] = []
    adding_replicas: list[Int32] = []
    leader: Int32 = -1
    leader_recovery_state: Annotated[Int8, V(tag=0)] = 0
    leader_epoch: Int32 = -1
    partition_epoch: Int32 = -1
    directories: Annotated[list[Uuid], V("1+")] = []
    eligible_leader_replicas: Annotated[list[Int32] | None, V("2+", tag=1)] = None
    last_known_elr: Annotated[list[Int32] | None, V("2+", tag=2)] = None


class RemoveTopicRecord(Message):
    kafka = metadata_record(9, "0", flexible="0+")
    topic_id: Uuid = ZERO_UUID


class ConfigRecord(Message):
    kafka = metadata_record(4, "0", flexible="0+")
    resource_type: Int8 = 0
    resource_name: String = ""
    name: String = ""
    value: String | None = ""


class ProducerIdsRecord(Message):
    kafka = metadata_record(15, "0", flexible="0+")
    broker_id: Int32 = 0
    broker_epoch: Int64 = -1
    next_producer_id: Int64 = 0
