"""ListPartitionReassignments (46): which partitions move between brokers (KIP-455)."""

from __future__ import annotations

from protocol.fields import Int16, Int32, Item, Message, String, request, response


class ListPartitionReassignmentsRequest(Message):
    kafka = request(46, "0", flexible="0+")
    timeout_ms: Int32 = 60_000
    topics: list[ListPartitionReassignmentsTopics] | None = None


class ListPartitionReassignmentsTopics(Item):
    name: String = ""
    partition_indexes: list[Int32] = []


class ListPartitionReassignmentsResponse(Message):
    kafka = response(46, "0", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""
    topics: list[OngoingTopicReassignment] = []


class OngoingTopicReassignment(Item):
    name: String = ""
    partitions: list[OngoingPartitionReassignment] = []


class OngoingPartitionReassignment(Item):
    partition_index: Int32 = 0
    replicas: list[Int32] = []
    adding_replicas: list[Int32] = []
    removing_replicas: list[Int32] = []
