"""Records of the cluster's own log (KRaft): topics, settings of topics and groups, producer ids, users, ACLs and client quotas.

PartitionRecord version 1 adds directories (KIP-858), 2 eligible leader replicas (KIP-966).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Bool, Bytes, Float64, Int8, Int32, Int64, Item, Message, String, Uuid, V, metadata_record


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


class UserScramCredentialRecord(Message):
    kafka = metadata_record(11, "0", flexible="0+")
    name: String = ""
    mechanism: Int8 = 0
    salt: Bytes = b""
    stored_key: Bytes = b""
    server_key: Bytes = b""
    iterations: Int32 = 0


class RemoveUserScramCredentialRecord(Message):
    kafka = metadata_record(22, "0", flexible="0+")
    name: String = ""
    mechanism: Int8 = 0


class AccessControlEntryRecord(Message):
    kafka = metadata_record(18, "0", flexible="0+")
    id: Uuid = ZERO_UUID
    resource_type: Int8 = 0
    resource_name: String = ""
    pattern_type: Int8 = 0
    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class RemoveAccessControlEntryRecord(Message):
    kafka = metadata_record(19, "0", flexible="0+")
    id: Uuid = ZERO_UUID


class ClientQuotaRecord(Message):
    kafka = metadata_record(14, "0", flexible="0+")
    entity: list[EntityData] = []
    key: String = ""
    value: Float64 = 0.0
    remove: Bool = False


class EntityData(Item):
    entity_type: String = ""
    entity_name: String | None = ""
