"""CreateTopics (19).

Version 4 lets partitions and replication factor default (-1, KIP-464), 5 returns the topic's configs (KIP-525), 7 its id
(KIP-516).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Bool, Int8, Int16, Int32, Item, Message, String, Uuid, V, request, response


class CreateTopicsRequest(Message):
    kafka = request(19, "2-7", flexible="5+")
    topics: list[CreatableTopic] = []
    timeout_ms: Int32 = 60000
    validate_only: Bool = False


class CreatableTopic(Item):
    name: String = ""
    num_partitions: Int32 = 0
    replication_factor: Int16 = 0
    assignments: list[CreatableReplicaAssignment] = []
    configs: list[CreatableTopicConfig] = []


class CreatableReplicaAssignment(Item):
    partition_index: Int32 = 0
    broker_ids: list[Int32] = []


class CreatableTopicConfig(Item):
    name: String = ""
    value: String | None = ""


class CreateTopicsResponse(Message):
    kafka = response(19, "2-7", flexible="5+")
    throttle_time_ms: Int32 = 0
    topics: list[CreatableTopicResult] = []


class CreatableTopicResult(Item):
    name: String = ""
    topic_id: Annotated[Uuid, V("7+", ignorable=True)] = ZERO_UUID
    error_code: Int16 = 0
    error_message: String | None = ""
    topic_config_error_code: Annotated[Int16, V("5+", ignorable=True, tag=0)] = 0
    num_partitions: Annotated[Int32, V("5+", ignorable=True)] = -1
    replication_factor: Annotated[Int16, V("5+", ignorable=True)] = -1
    configs: Annotated[list[CreatableTopicConfigs] | None, V("5+", ignorable=True)] = []


class CreatableTopicConfigs(Item):
    name: String = ""
    value: String | None = ""
    read_only: Bool = False
    config_source: Annotated[Int8, V(ignorable=True)] = -1
    is_sensitive: Bool = False
