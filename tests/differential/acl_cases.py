"""Requests of users with different entries, for a broker and for this server: who they are, what they may do, and what they ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from protocol.acl_codes import Operation, PatternType, Permission, ResourceType
from protocol.fields import Message
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, OpData, RequestEntryData
from protocol.messages.alter_configs import AlterConfigsRequest
from protocol.messages.alter_configs import AlterConfigsResource as ReplacedResource
from protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsRequestPartition
from protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsRequestTopic as AlteredTopic
from protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest, ScramCredentialDeletion
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.create_acls import AclCreation, CreateAclsRequest
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsRequestTopic
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from protocol.messages.describe_acls import DescribeAclsRequest
from protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from protocol.messages.describe_cluster import DescribeClusterRequest
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.describe_producers import DescribeProducersRequest
from protocol.messages.describe_producers import TopicRequest as ProducersTopic
from protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from protocol.messages.describe_transactions import DescribeTransactionsRequest
from protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from protocol.messages.end_txn import EndTxnRequest
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from protocol.messages.find_coordinator import FindCoordinatorRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.incremental_alter_configs import AlterableConfig, AlterConfigsResource, IncrementalAlterConfigsRequest
from protocol.messages.init_producer_id import InitProducerIdRequest
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.list_config_resources import ListConfigResourcesRequest
from protocol.messages.list_groups import ListGroupsRequest
from protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from protocol.messages.list_transactions import ListTransactionsRequest
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from protocol.messages.share_group_describe import ShareGroupDescribeRequest
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, Subtopology, Topology
from protocol.messages.sync_group import SyncGroupRequest
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from protocol.messages.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest

TOPICS: Final = ("orders", "secrets")
MISSING: Final = "missing"
GROUPS: Final = ("seen", "unseen")
TRANSACTIONS: Final = ("tx-seen", "tx-unseen")
TOPIC, GROUP, CLUSTER, TXN = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER, ResourceType.TRANSACTIONAL_ID
ALL: Final = (*TOPICS, MISSING)


class Allowed(NamedTuple):
    """An entry of a user."""

    operation: Operation
    kind: ResourceType
    name: str
    pattern_type: PatternType = PatternType.LITERAL
    permission: Permission = Permission.ALLOW


CLUSTER_NAME: Final = "kafka-cluster"
PREFIXED, DENY = PatternType.PREFIXED, Permission.DENY
USERS: Final[dict[str, tuple[Allowed, ...]]] = {
    "nobody": (),
    "reader": (Allowed(Operation.READ, TOPIC, "orders"), Allowed(Operation.READ, GROUP, "seen")),
    "describer": (
        Allowed(Operation.DESCRIBE, TOPIC, "ord", PREFIXED),
        Allowed(Operation.DESCRIBE, GROUP, "se", PREFIXED),
        Allowed(Operation.DESCRIBE, TXN, "tx-seen"),
    ),
    "writer": (
        Allowed(Operation.WRITE, TOPIC, "orders"),
        Allowed(Operation.WRITE, TXN, "tx-seen"),
        Allowed(Operation.READ, GROUP, "*"),
    ),
    "denied": (
        *(Allowed(Operation.ALL, kind, "*") for kind in (TOPIC, GROUP, TXN)),
        Allowed(Operation.READ, TOPIC, "sec", PREFIXED, DENY),
        Allowed(Operation.DESCRIBE, GROUP, "unseen", permission=DENY),
        Allowed(Operation.ALL, TXN, "tx-unseen", permission=DENY),
    ),
    "operator": (
        Allowed(Operation.DESCRIBE, CLUSTER, CLUSTER_NAME),
        Allowed(Operation.DESCRIBE_CONFIGS, CLUSTER, CLUSTER_NAME),
        Allowed(Operation.ALTER_CONFIGS, TOPIC, "orders"),
        Allowed(Operation.DESCRIBE_CONFIGS, GROUP, "seen"),
    ),
    "manager": (Allowed(Operation.ALTER, CLUSTER, CLUSTER_NAME), Allowed(Operation.ALTER_CONFIGS, CLUSTER, CLUSTER_NAME)),
    "broker": (Allowed(Operation.CLUSTER_ACTION, CLUSTER, CLUSTER_NAME),),
    "creator": (
        Allowed(Operation.CREATE, TOPIC, "new", PREFIXED),
        Allowed(Operation.DESCRIBE, TOPIC, "new", PREFIXED),
        Allowed(Operation.ALTER, TOPIC, "new-a"),
        Allowed(Operation.DELETE, TOPIC, "new-a"),
        Allowed(Operation.DESCRIBE_CONFIGS, TOPIC, "new-a"),
    ),
    "deleter": (
        Allowed(Operation.DELETE, GROUP, "seen"),
        Allowed(Operation.READ, TOPIC, "orders"),
        Allowed(Operation.DELETE, TOPIC, MISSING),
        Allowed(Operation.DESCRIBE, TOPIC, "secrets"),
        Allowed(Operation.DESCRIBE, TOPIC, "new", PREFIXED, DENY),
        Allowed(Operation.DELETE, TOPIC, "new", PREFIXED),
    ),
}


def creations() -> list[AclCreation]:
    """Return all entries as Kafka's."""
    return [
        AclCreation(each.kind, each.name, each.pattern_type, f"User:{user}", "*", each.operation, each.permission)
        for user, entries in USERS.items()
        for each in entries
    ]


class Case(NamedTuple):
    """A request of every user. Texts that are names of topics stand for ids where a version has them."""

    version: int
    request: Message


def cases() -> Iterator[Case]:
    """Yield the requests that change nothing that a later one depends on."""
    yield from _reading()
    yield from _writing()
    yield from _administering()


def _reading() -> Iterator[Case]:
    named = [MetadataRequestTopic(name=name) for name in ALL]
    for version in (0, 1, 8, 12, 13):
        yield Case(version, MetadataRequest([] if version == 0 else None))
        yield Case(version, MetadataRequest(named, version < 4))
    yield Case(8, MetadataRequest(None, False, True, True))
    yield Case(10, MetadataRequest(named, False, True, True))
    yield Case(12, MetadataRequest([MetadataRequestTopic(_id(name), None) for name in TOPICS], False))
    yield Case(2, DescribeClusterRequest(True))
    yield Case(0, DescribeTopicPartitionsRequest([TopicRequest(name) for name in ALL]))
    yield Case(0, DescribeTopicPartitionsRequest())
    for group in GROUPS:
        yield Case(3, FindCoordinatorRequest(group, 0))
    yield Case(6, FindCoordinatorRequest(key_type=0, coordinator_keys=list(GROUPS)))
    yield Case(6, FindCoordinatorRequest(key_type=1, coordinator_keys=list(TRANSACTIONS)))
    yield Case(3, FindCoordinatorRequest("tx-seen", 1))
    for version in (5, 6):
        yield Case(version, DescribeGroupsRequest([*GROUPS, MISSING], True))
    yield Case(1, ConsumerGroupDescribeRequest([*GROUPS, "modern"], True))
    yield Case(1, ShareGroupDescribeRequest([*GROUPS], True))
    yield Case(0, StreamsGroupDescribeRequest([*GROUPS, MISSING], True))
    yield Case(5, ListGroupsRequest())
    yield Case(2, ListTransactionsRequest())
    yield Case(0, DescribeTransactionsRequest([*TRANSACTIONS, MISSING]))
    for version in (4, 12):
        yield Case(version, FetchRequest(topics=[FetchTopic(name, partitions=[FetchPartition(0)]) for name in ALL]))
    yield Case(12, FetchRequest(topics=[FetchTopic("__consumer_offsets", partitions=[FetchPartition(0)])]))
    yield Case(14, FetchRequest(topics=[FetchTopic(topic_id=_id(name), partitions=[FetchPartition(0)]) for name in TOPICS]))
    yield Case(8, ListOffsetsRequest(topics=[ListOffsetsTopic(name, [ListOffsetsPartition(0, timestamp=-1)]) for name in ALL]))
    for version in (1, 2, 7):
        for group in GROUPS:
            yield Case(version, OffsetFetchRequest(group, [OffsetFetchRequestTopic(name, [0]) for name in ALL]))
            if version > 1:
                yield Case(version, OffsetFetchRequest(group, None))
    for version in (8, 9):
        yield Case(
            version,
            OffsetFetchRequest(
                groups=[
                    *(
                        OffsetFetchRequestGroup(
                            group, topics=[OffsetFetchRequestTopics(name, partition_indexes=[0]) for name in ALL]
                        )
                        for group in GROUPS
                    ),
                    *(OffsetFetchRequestGroup(group, topics=None) for group in GROUPS),
                ]
            ),
        )
    yield Case(
        10,
        OffsetFetchRequest(
            groups=[
                OffsetFetchRequestGroup(
                    "seen", topics=[OffsetFetchRequestTopics(topic_id=_id(name), partition_indexes=[0]) for name in TOPICS]
                ),
                OffsetFetchRequestGroup("seen", topics=None),
            ]
        ),
    )
    yield Case(0, DescribeProducersRequest([ProducersTopic(name, [0]) for name in (*ALL, "not/a/name")]))
    yield Case(
        1,
        DescribeShareGroupOffsetsRequest(
            [
                DescribeShareGroupOffsetsRequestGroup(
                    "seen", [DescribeShareGroupOffsetsRequestTopic(name, [0]) for name in TOPICS]
                ),
                DescribeShareGroupOffsetsRequestGroup("unseen", None),
            ]
        ),
    )


def _writing() -> Iterator[Case]:
    commits = [OffsetCommitRequestTopic(name, partitions=[OffsetCommitRequestPartition(0, 5)]) for name in ALL]
    for version in (2, 6, 9):
        for group in GROUPS:
            yield Case(version, OffsetCommitRequest(group, topics=commits))
    by_id = [OffsetCommitRequestTopic(topic_id=_id(name), partitions=[OffsetCommitRequestPartition(0, 5)]) for name in TOPICS]
    yield Case(10, OffsetCommitRequest("seen", topics=by_id))
    for group in GROUPS:
        yield Case(4, HeartbeatRequest(group, 1, "m"))
        yield Case(5, SyncGroupRequest(group, 1, "m", None, "consumer", "range"))
        yield Case(5, LeaveGroupRequest(group, "", [MemberIdentity("m")]))
        yield Case(1, ConsumerGroupHeartbeatRequest(group, "m", 5, subscribed_topic_names=None))
        yield Case(1, ConsumerGroupHeartbeatRequest(group, "m", 5, subscribed_topic_names=["orders", "secrets"]))
        yield Case(
            1, ShareGroupHeartbeatRequest(group, "0123456789012345678901", 5, subscribed_topic_names=["orders", "secrets"])
        )
        yield Case(0, StreamsGroupHeartbeatRequest(group, "m", 5))
        for names in (["orders"], ["orders", "secrets"], ["secrets", "__consumer_offsets"], ["orders", "a/b"]):
            # A static member is refused where the topics are not: nothing changes.
            topology = Topology(0, [Subtopology("0", names[:1], repartition_sink_topics=names[1:])])
            yield Case(0, StreamsGroupHeartbeatRequest(group, "m", 0, 0, "i", topology=topology))
    for transactional_id in (*TRANSACTIONS, None):
        # A producer epoch alone is invalid: nothing changes where it is allowed.
        yield Case(4, InitProducerIdRequest(transactional_id, 1000, -1, 5))
    topics = [AddPartitionsToTxnTopic(name, [0]) for name in TOPICS]
    for transactional_id in TRANSACTIONS:
        yield Case(
            3,
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=transactional_id,
                v3_and_below_producer_id=999,
                v3_and_below_producer_epoch=0,
                v3_and_below_topics=topics,
            ),
        )
        yield Case(4, AddOffsetsToTxnRequest(transactional_id, 999, 0, "seen"))
        yield Case(4, AddOffsetsToTxnRequest(transactional_id, 999, 0, "unseen"))
        yield Case(4, EndTxnRequest(transactional_id, 999, 0, False))
        yield Case(
            3,
            TxnOffsetCommitRequest(
                transactional_id,
                "seen",
                999,
                0,
                topics=[TxnOffsetCommitRequestTopic(name, [TxnOffsetCommitRequestPartition(0, 5)]) for name in (MISSING,)],
            ),
        )
    yield Case(5, AddPartitionsToTxnRequest([AddPartitionsToTxnTransaction("tx-seen", 999, 0, topics=topics)]))
    yield Case(1, WriteTxnMarkersRequest([WritableTxnMarker(999, 0, False, [WritableTxnMarkerTopic(MISSING, [0])])]))
    yield Case(9, ProduceRequest("tx-seen", 1, 1000, [TopicProduceData(MISSING, partition_data=[PartitionProduceData(0, None)])]))


def _administering() -> Iterator[Case]:
    yield Case(1, ListConfigResourcesRequest([2]))
    resources = [
        DescribeConfigsResource(kind, name, ["no.such.key"])
        for kind, name in ((2, "orders"), (2, MISSING), (32, "seen"), (4, "1"))
    ]
    yield Case(4, DescribeConfigsRequest(resources))
    retention = [AlterableConfig("retention.ms", 0, "1000000")]
    yield Case(
        1,
        IncrementalAlterConfigsRequest(
            [AlterConfigsResource(2, "orders", retention), AlterConfigsResource(2, "secrets", retention)]
        ),
    )
    yield Case(
        2, AlterConfigsRequest([ReplacedResource(2, "orders"), ReplacedResource(2, "secrets"), ReplacedResource(32, "seen")])
    )
    yield Case(
        7,
        CreateTopicsRequest(
            [CreatableTopic("orders", 1, 1), CreatableTopic("other", 1, 1), CreatableTopic("new-b", 1, 1)], 60_000, True
        ),
    )
    yield Case(7, CreateTopicsRequest([CreatableTopic("new-a", 1, 1)], 60_000, True))
    yield Case(3, CreatePartitionsRequest([CreatePartitionsTopic("orders", 2), CreatePartitionsTopic("new-a", 2)], 60_000, True))
    yield Case(5, DeleteTopicsRequest(topic_names=[MISSING, "new-c"], timeout_ms=60_000))
    yield Case(6, DeleteTopicsRequest([DeleteTopicState(MISSING), DeleteTopicState("new-c")], timeout_ms=60_000))
    yield Case(2, DeleteGroupsRequest([MISSING]))
    yield Case(
        0,
        OffsetDeleteRequest("missing", [OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(0)]) for name in TOPICS]),
    )
    yield Case(
        0,
        AlterShareGroupOffsetsRequest(
            "seen", [AlteredTopic(name, [AlterShareGroupOffsetsRequestPartition(0, 1)]) for name in (MISSING,)]
        ),
    )
    yield Case(0, DeleteShareGroupOffsetsRequest("seen", [DeleteShareGroupOffsetsRequestTopic(name) for name in (MISSING,)]))
    yield Case(1, DescribeClientQuotasRequest([ComponentData("user", 0, "nobody-has-one")]))
    entity = [EntityData("user", "nobody-has-one")]
    yield Case(1, AlterClientQuotasRequest([RequestEntryData(entity, [OpData("request_percentage", 10.0)])], True))
    yield Case(0, DescribeUserScramCredentialsRequest([UserName("nobody")]))
    yield Case(0, AlterUserScramCredentialsRequest([ScramCredentialDeletion("nobody", 1)]))
    yield Case(3, DescribeAclsRequest(1, None, 1, "User:reader", None, 1, 1))
    yield Case(3, CreateAclsRequest([AclCreation(TOPIC, "orders", 3, "User:reader", "*", 3, 3)]))
    yield Case(3, DeleteAclsRequest([DeleteAclsFilter(2, "no-such", 3, None, None, 1, 1)]))


def _id(name: str) -> bytes:
    """Return what stands for the id of a topic."""
    return name.encode().ljust(16, b".")


IDS: Final = {_id(name): name for name in TOPICS}
