"""What each server makes up (member ids, topic ids, its port) gets a name by its first appearance,
so that answers can be compared.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final
from zlib import crc32

from protocol.fields import uuid_text
from tests.differential.consumer_bytes import in_order
from tests.differential.holders import Holders
from tests.differential.wire import Sent

UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_BASE64: Final = re.compile(r"[A-Za-z0-9_-]{22}")

# Arrays that Kafka keeps in hash maps: their order is that of random ids, or of nothing.
UNORDERED: Final = {
    ("JoinGroupResponse", "members"),
    ("DescribeGroupsResponse", "groups"),
    ("DescribeGroupsResponse", "members"),
    ("ListGroupsResponse", "groups"),
    ("DeleteGroupsResponse", "results"),
    ("OffsetFetchResponse of all", "topics"),
    ("OffsetFetchResponse of all", "partitions"),
    ("MetadataResponse", "topics"),
    ("ListConfigResourcesResponse", "configResources"),
    ("DescribeConfigsResponse", "results"),
    ("DescribeConfigsResponse", "configs"),
    ("IncrementalAlterConfigsResponse", "responses"),
    ("AlterClientQuotasResponse", "entries"),
    ("AlterClientQuotasResponse", "entity"),
    ("DescribeClientQuotasResponse", "entries"),
    ("DescribeClientQuotasResponse", "entity"),
    ("DescribeClientQuotasResponse", "values"),
    ("Record", "members"),
    ("ConsumerGroupHeartbeatRequest", "TopicPartitions"),
    ("ConsumerGroupHeartbeatResponse", "topicPartitions"),
    ("ConsumerGroupDescribeResponse", "groups"),
    ("ConsumerGroupDescribeResponse", "members"),
    ("ConsumerGroupDescribeResponse", "subscribedTopicNames"),
    ("ConsumerGroupDescribeResponse", "topicPartitions"),
    ("Record", "assigned_partitions"),
    ("Record", "partitions_pending_revocation"),
    ("Record", "topic_partitions"),
    ("Record", "topics"),
    ("AddPartitionsToTxnResponse", "resultsByTopicV3AndBelow"),
    ("AddPartitionsToTxnResponse", "resultsByTransaction"),
    ("AddPartitionsToTxnResponse", "topicResults"),
    ("AddPartitionsToTxnResponse", "resultsByPartition"),
    ("DescribeTransactionsResponse", "topics"),
    ("DescribeTransactionsResponse", "partitions"),
    ("ListTransactionsResponse", "transactionStates"),
    ("ListTransactionsResponse", "unknownStateFilters"),
    ("WriteTxnMarkersResponse", "markers"),
    ("WriteTxnMarkersResponse", "topics"),
    ("WriteTxnMarkersResponse", "partitions"),
    ("DescribeProducersResponse", "activeProducers"),
    ("ShareGroupHeartbeatResponse", "topicPartitions"),
    ("ShareGroupDescribeResponse", "groups"),
    ("ShareGroupDescribeResponse", "members"),
    ("ShareGroupDescribeResponse", "subscribedTopicNames"),
    ("ShareGroupDescribeResponse", "topicPartitions"),
    ("InitializeShareGroupStateResponse", "results"),
    ("InitializeShareGroupStateResponse", "partitions"),
    ("ReadShareGroupStateResponse", "results"),
    ("ReadShareGroupStateResponse", "partitions"),
    ("WriteShareGroupStateResponse", "results"),
    ("WriteShareGroupStateResponse", "partitions"),
    ("DeleteShareGroupStateResponse", "results"),
    ("DeleteShareGroupStateResponse", "partitions"),
    ("ReadShareGroupStateSummaryResponse", "results"),
    ("ReadShareGroupStateSummaryResponse", "partitions"),
    ("DescribeShareGroupOffsetsResponse", "groups"),
    ("DescribeShareGroupOffsetsResponse", "topics"),
    ("AlterShareGroupOffsetsResponse", "responses"),
    ("DeleteShareGroupOffsetsResponse", "responses"),
    ("ShareFetchResponse", "responses"),
    ("ShareFetchResponse", "partitions"),
    ("ShareAcknowledgeResponse", "responses"),
    ("ShareAcknowledgeResponse", "partitions"),
    ("Record", "initializing_topics"),
    ("Record", "initialized_topics"),
    ("Record", "deleting_topics"),
    ("StreamsGroupHeartbeatResponse", "partitionsByUserEndpoint"),
    ("StreamsGroupHeartbeatResponse", "activePartitions"),
    ("StreamsGroupHeartbeatResponse", "standbyPartitions"),
    ("StreamsGroupHeartbeatResponse", "partitions"),
    ("StreamsGroupDescribeResponse", "groups"),
    ("StreamsGroupDescribeResponse", "members"),
    ("CreateTopicsResponse", "topics"),
    ("DeleteTopicsResponse", "responses"),
    ("CreatePartitionsResponse", "results"),
}

# Lists of what a server has, that of other scripts included, and the field that tells whose it is.
SHARED: Final = {
    ("ListGroupsResponse", "groups"): "groupId",
    ("ListConfigResourcesResponse", "configResources"): "resourceName",
    ("ListTransactionsResponse", "transactionStates"): "transactionalId",
}

# Fields with producer ids, in answers, requests and records, and those with times.
PRODUCER_IDS: Final = {
    "producerId",
    "ProducerId",
    "ProducerIdFilters",
    "V3AndBelowProducerId",
    "producer_id",
    "previous_producer_id",
    "next_producer_id",
    "producer",
}
TIMES: Final = {
    "transactionStartTimeMs",
    "lastTimestamp",
    "assignment_timestamp",
    "timestamp",
    "create_timestamp",
    "write_timestamp",
}
TOPIC_IDS: Final = {"topicId", "topic_id"}
# Of a classic member, as bytes.
ASSIGNMENTS: Final = {"assignment", "memberAssignment"}
# Of topics, ids included.
HASHES: Final = {"metadata_hash"}
# Positions in logs that scripts share.
OFFSETS: Final = {"currentTxnStartOffset"}

# Answers that have the assignments of share groups.
OF_SHARERS: Final = {"ShareGroupHeartbeatResponse", "ShareGroupDescribeResponse"}

# What is each server's own.
OWN: Final = {("MetadataResponse", "clusterId")}


class Names:
    """Of one server and one script. ``prefix`` is what the script's groups are told apart by from those of others."""

    def __init__(self, prefix: str, topic_ids: Mapping[str, bytes], port: int, *, has_consumers: bool = False) -> None:
        self._prefix = prefix
        # Whether coordinators make the assignments of classic members: from a map of topic ids.
        self.has_consumers = has_consumers
        self._topics = {topic_id: f"id of {name}" for name, topic_id in topic_ids.items()}
        self._topic_texts = {uuid_text(topic_id): name for topic_id, name in self._topics.items()}
        self.port = port
        self.holders = Holders()
        # How often a coordinator was elected is each server's own: Kafka counts by two at a restart,
        # ours stays at 0 (differences.md).
        self.has_first_coordinator = True
        self._members: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._producers: dict[int, str] = {}
        self._hashes: dict[int, str] = {}
        # Member ids that are made up, but for those with a UUID in them.
        self._made: dict[str, str] = {}

    def know_topic(self, name: str, topic_id: bytes) -> None:
        """A topic that the script has made."""
        self._topics[topic_id] = f"id of {name}"
        self._topic_texts[uuid_text(topic_id)] = self._topics[topic_id]

    def topic(self, topic_id: bytes) -> str:
        """The name of a topic by its id, or a part of the id."""
        return self._topics.get(topic_id, topic_id.hex()).removeprefix("id of ").removeprefix(self._prefix)

    def _know_member(self, sent: Sent, member_id: str) -> None:
        """Name the id that a member is given: that of a consumer group is a UUID, which Kafka writes in base 64."""
        if member_id != sent.member_id and (_BASE64.fullmatch(member_id) or UUID.fullmatch(member_id)):
            self._made.setdefault(member_id, f"member {len(self._made)}")
        self._named(member_id)

    def producer(self, producer_id: int) -> str:
        """The name of a producer that was in an answer, or nothing."""
        return self._producers.get(producer_id, "")

    def of_step(self, answers: Iterable[Sent]) -> dict[int, Any]:
        """Answers by the ordinal of their request. Ids that a join gives out are named first, in the order of the requests."""
        ordered = sorted(answers, key=lambda sent: sent.ordinal)
        for sent in ordered:
            if sent.answer is not None and "memberId" in sent.answer:
                self._know_member(sent, sent.answer["memberId"] or "")
        return {sent.ordinal: self.named(type(sent.message).__name__ + sent.extent, sent.answer) for sent in ordered}

    def named(self, kind: str, value: Any, field: str = "") -> Any:
        """The value with names for what was made up."""
        if (kind, field) in OWN:
            return "its own"
        if isinstance(value, dict):
            return {name: self.named(kind, inner, name) for name, inner in self._with_holders(kind, value).items()}
        if isinstance(value, list):
            if field == "activeProducers":
                value = [each for each in value if each["producerId"] in self._producers]
            if (kind, field) in SHARED:
                value = [each for each in value if each[SHARED[kind, field]].startswith(self._prefix)]
            if (kind, field) in UNORDERED:
                value = sorted(value, key=partial(self._order, kind))
            return [self.named(kind, element, field) for element in value]
        if isinstance(value, bytes):
            if field in TOPIC_IDS:
                return self._topic(kind, value)
            if field in ASSIGNMENTS and self.has_consumers:
                value = in_order(value)
            return value.decode(errors="backslashreplace").replace(self._prefix, "")
        if isinstance(value, str):
            if (kind, field) == ("Record", "leader") and self.has_consumers and value:
                # Kafka draws one among members whose ids it has made up; answers are compared with that in mind (lockstep.py).
                return "a leader"
            # Messages are for people, and each project has its own words.
            return "a message" if field == "errorMessage" and value else self._named(value)
        return self._named_number(field, value)

    def _with_holders(self, kind: str, value: dict[str, Any]) -> dict[str, Any]:
        """The partitions of share groups by who has had them."""
        if kind not in OF_SHARERS or "partitions" not in value:
            return value
        return {**value, "partitions": self.holders.names(value["topicId"], value["partitions"])}

    def _named_number(self, field: str, value: Any) -> Any:
        if field in PRODUCER_IDS and value > 0:
            return self._producers.setdefault(value, f"producer {len(self._producers)}")
        if field in HASHES and value:
            return self._hashes.setdefault(value, f"hash {len(self._hashes)}")
        if field in TIMES and value > 0:
            return "then"
        if field in OFFSETS and value >= 0:
            return "there"
        if field == "coordinatorEpoch" and value >= 0 and not self.has_first_coordinator:
            return "an epoch"
        return "its port" if field == "port" and value == self.port else value

    def digest(self, kind: str, request: Any) -> str:
        """A checksum of a request that is the same on both sides; naming it names nothing new."""
        return f"{crc32(f'{kind} {self._order(kind, request)}'.encode()):08x}"

    def _topic(self, kind: str, topic_id: bytes) -> str:
        is_new = kind == "CreateTopicsResponse" and any(topic_id)
        return self._topics.get(topic_id, "a new id" if is_new else topic_id.replace(self._prefix.encode(), b"").hex())

    def _named(self, text: str) -> str:
        def name(match: re.Match[str]) -> str:
            if match[0] not in self._members:
                before = text[: match.start()]
                self._counts[before] += 1
                self._members[match[0]] = f"#{self._counts[before]}"
            return self._members[match[0]]

        return UUID.sub(name, self._of_topic(self._made.get(text, text))).replace(self._prefix, "")

    def _of_topic(self, text: str) -> str:
        """The key of a share partition with the name of its topic."""
        return ":".join(self._topic_texts.get(part, part) for part in text.split(":"))

    def _order(self, kind: str, element: Any) -> str:
        """By what is the same on both sides: an id that has no name yet counts for nothing."""
        return json.dumps(self._blank(kind, element), sort_keys=True)

    def _blank(self, kind: str, value: Any, field: str = "") -> Any:
        if (kind, field) in OWN or field == "errorMessage":
            return ""
        if isinstance(value, dict):
            return {name: self._blank(kind, inner, name) for name, inner in self._with_holders(kind, value).items()}
        if isinstance(value, list):
            blank = [self._blank(kind, element, field) for element in value]
            return sorted(blank, key=repr) if (kind, field) in UNORDERED else blank
        if isinstance(value, bytes):
            return self._topic(kind, value)
        if field in TIMES or field in OFFSETS or (field == "coordinatorEpoch" and not self.has_first_coordinator):
            return ""
        if field in PRODUCER_IDS:
            return self._producers.get(value, "")
        if isinstance(value, str):
            value = self._of_topic(self._made.get(value, value))
            return UUID.sub(lambda match: self._members.get(match[0], ""), value).replace(self._prefix, "")
        return value
