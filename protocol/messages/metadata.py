"""Metadata (3): brokers, topics and partitions.

In version 0 an empty list of topics asks for all of them, later null does. Version 4 makes auto-creation a choice, 7 adds
leader epochs (KIP-320), 8 authorized operations (KIP-430), 10 topic ids (KIP-516), 12 asks by topic id, 13 adds an error for
the whole response.
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Bool, Int16, Int32, Item, Message, String, Uuid, V, request, response


class MetadataRequest(Message):
    kafka = request(3, "0-13", flexible="9+")
    topics: Annotated[list[MetadataRequestTopic] | None, V(nullable="1+")] = []
    allow_auto_topic_creation: Annotated[Bool, V("4+")] = True
    include_cluster_authorized_operations: Annotated[Bool, V("8-10")] = False
    include_topic_authorized_operations: Annotated[Bool, V("8+")] = False


class MetadataRequestTopic(Item):
    topic_id: Annotated[Uuid, V("10+", ignorable=True)] = ZERO_UUID
    name: Annotated[String | None, V(nullable="10+")] = ""


class MetadataResponse(Message):
    kafka = response(3, "0-13", flexible="9+")
    throttle_time_ms: Annotated[Int32, V("3+", ignorable=True)] = 0
    brokers: list[MetadataResponseBroker] = []
    cluster_id: Annotated[String | None, V("2+", ignorable=True)] = None
    controller_id: Annotated[Int32, V("1+", ignorable=True)] = -1
    topics: list[MetadataResponseTopic] = []
    cluster_authorized_operations: Annotated[Int32, V("8-10")] = -0x80000000
    error_code: Annotated[Int16, V("13+", ignorable=True)] = 0


class MetadataResponseBroker(Item):
    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: Annotated[String | None, V("1+", ignorable=True)] = None


class MetadataResponseTopic(Item):
    error_code: Int16 = 0
    name: Annotated[String | None, V(nullable="12+")] = ""
    topic_id: Annotated[Uuid, V("10+", ignorable=True)] = ZERO_UUID
    is_internal: Annotated[Bool, V("1+", ignorable=True)] = False
    partitions: list[MetadataResponsePartition] = []
    topic_authorized_operations: Annotated[Int32, V("8+")] = -0x80000000


class MetadataResponsePartition(Item):
    error_code: Int16 = 0
    partition_index: Int32 = 0
    leader_id: Int32 = 0
    leader_epoch: Annotated[Int32, V("7+", ignorable=True)] = -1
    replica_nodes: list[Int32] = []
    isr_nodes: list[Int32] = []
    offline_replicas: Annotated[list[Int32], V("5+", ignorable=True)] = []
