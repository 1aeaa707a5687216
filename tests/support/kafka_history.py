"""A life of every kind of group, told to a real broker over plain requests and by a stock client,
and what a server answers about it afterwards.

``first_life`` and ``second_life`` write the history (a broker is restarted between them, with another compression); ``answers``
asks whatever listens for what it knows of the groups, in a form that can be compared and kept as JSON.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from protocol.error_codes import ErrorCode
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.metadata import MetadataRequest, MetadataResponse
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    Topology,
)
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.members import form_group, subscription
from tests.support.simple_requests import commit_alone, committed, coordinator, make_topic

OFFSETS_TOPIC = "__consumer_offsets"
ROLL: Mapping[str, str] = {
    "segment.ms": "300",
    "segment.jitter.ms": "0",
    "min.cleanable.dirty.ratio": "0.0001",
    "max.compaction.lag.ms": "1",
}
FIRST_START: Mapping[str, object] = {
    "log.cleaner.backoff.ms": 200,
    "offsets.retention.check.interval.ms": 500,
    "log.initial.task.delay.ms": 100,
}
"""Broker properties of the first life: cleaning and expiry come at once."""
SECOND_START: Mapping[str, object] = {"offsets.topic.compression.codec": 1}
"""Broker properties of the second life: batches are compressed, with gzip."""
LONG_SESSION_MS = 1_800_000
KIND_PATIENCE_MS = 300_000


def first_life(address: tuple[str, int]) -> list[Any]:
    """Everything but compressed batches. Returns members that stay as long as they are kept."""
    with Client(address, timeout_s=60) as client:
        for name, partitions in (("orders", 6), ("payments", 3), ("gone", 2)):
            make_topic(client, name, partitions)
        coordinator(client, "simple-0")
        _simple(client)
        staying = _classic(address)
        _deleted(client)
        _modern(client)
        _transactions(client)
        _stock_clients(address)
        eventually(lambda: committed(client, "stock-classic")[("orders", 0)] == 90)
        _let_it_be_cleaned(client)
    return staying


def second_life(address: tuple[str, int]) -> None:
    """A few commits more, over and beside those of the first life."""
    with Client(address, timeout_s=60) as client:
        coordinator(client, "simple-0")
        for number in range(0, 12, 3):
            _commit(client, f"simple-{number}", "orders", {0: 9000 + number, 5: 1})
        _commit(client, "late", "payments", dict.fromkeys(range(3), 77))


def answers(client: Client) -> dict[str, Any]:
    """What the server says of its groups and topics: lists of groups, descriptions of the classic ones, all offsets, topic ids."""
    listed = client.ask(ListGroupsRequest(), 5, ListGroupsResponse)
    assert listed.error_code == ErrorCode.NONE, ErrorCode(listed.error_code)
    ids = sorted(group.group_id for group in listed.groups)
    topics = client.ask(MetadataRequest(topics=None), 12, MetadataResponse).topics
    return {
        "groups": {group.group_id: [group.protocol_type, group.group_state, group.group_type.lower()] for group in listed.groups},
        "described": {group_id: _described(client, group_id) for group_id in ids},
        "offsets": {group_id: _offsets(client, group_id) for group_id in ids},
        "topics": {
            topic.name: [topic.topic_id.hex(), len(topic.partitions)] for topic in topics if topic.name and topic.name[:2] != "__"
        },
    }


def _described(client: Client, group_id: str) -> list[Any]:
    [group] = client.ask(DescribeGroupsRequest(groups=[group_id]), 6, DescribeGroupsResponse).groups
    members = [
        [
            one.member_id,
            one.group_instance_id,
            one.client_id,
            one.client_host,
            one.member_metadata.hex(),
            one.member_assignment.hex(),
        ]
        for one in group.members
    ]
    return [group.error_code, group.error_message, group.group_state, group.protocol_type, group.protocol_data, sorted(members)]


def _offsets(client: Client, group_id: str) -> list[Any]:
    [group] = client.ask(
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id, topics=None)]), 9, OffsetFetchResponse
    ).groups
    rows = [
        [topic.name, one.partition_index, one.committed_offset, one.committed_leader_epoch, one.metadata, one.error_code]
        for topic in group.topics
        for one in topic.partitions
    ]
    return [group.error_code, sorted(rows)]


def _simple(client: Client) -> None:
    for number in range(12):
        for round_number in range(3):
            offsets = {partition: 100 * round_number + partition + number for partition in range(6)}
            _commit(client, f"simple-{number}", "orders", offsets)
    partitions = [OffsetCommitRequestPartition(0, 41, 3, "zażółć"), OffsetCommitRequestPartition(1, 42, 0, "x" * 300)]
    noted = OffsetCommitRequest(group_id="noted", topics=[OffsetCommitRequestTopic(name="orders", partitions=partitions)])
    _none_refused(client.ask(noted, 9, OffsetCommitResponse))
    # With a retention time of its own, which only these old versions have: one that is over at once, and one that is not.
    for group_id, retention_ms in (("expired", 1), ("expiring", 10**12)):
        topic = OffsetCommitRequestTopic(name="orders", partitions=[OffsetCommitRequestPartition(2, 7)])
        old = OffsetCommitRequest(group_id=group_id, retention_time_ms=retention_ms, topics=[topic])
        _none_refused(client.ask(old, 2, OffsetCommitResponse))
    eventually(lambda: "expired" not in _listed(client))


def _classic(address: tuple[str, int]) -> list[Any]:
    """One group with members, one that all have left, one whose only member is static."""
    stable = form_group(address, "stable-crew", 3, session_timeout_ms=LONG_SESSION_MS)
    for member in stable:
        assert set(member.commit("orders", {0: 10, 1: 20}).values()) == {ErrorCode.NONE}
    for member in form_group(address, "empty-crew", 2, session_timeout_ms=LONG_SESSION_MS):
        assert set(member.commit("payments", {0: 5}).values()) == {ErrorCode.NONE}
        if not member.is_leader:
            assert member.leave() == ErrorCode.NONE
        else:
            leader = member
    assert leader.leave() == ErrorCode.NONE
    join = JoinGroupRequest("static-crew", LONG_SESSION_MS, 20_000, group_instance_id="desk-1", protocol_type="consumer")
    join.protocols = [JoinGroupRequestProtocol("range", subscription("orders"))]
    with Client(address, timeout_s=60) as client:
        joined = client.ask(join, 9, JoinGroupResponse)
        sync = SyncGroupRequest("static-crew", joined.generation_id, joined.member_id, "desk-1", "consumer", "range")
        sync.assignments = [SyncGroupRequestAssignment(joined.member_id, b"all of it")]
        assert client.ask(sync, 5, SyncGroupResponse).error_code == ErrorCode.NONE
    return stable


def _stock_clients(address: tuple[str, int]) -> None:
    """What a stock client makes of it, by the classic protocol and by KIP-848, and in a transaction;
    it leaves its groups in order.
    """
    common = {"bootstrap.servers": f"{address[0]}:{address[1]}"}
    for protocol in ("classic", "consumer"):
        settings = {**common, "group.id": f"stock-{protocol}", "group.protocol": protocol, "enable.auto.commit": False}
        consumer = Consumer(settings)
        consumer.subscribe(["orders"])
        eventually(partial(_is_assigned, consumer))
        positions = [TopicPartition("orders", partition, 70 + partition) for partition in range(6)]
        consumer.commit(offsets=positions, asynchronous=False)
        if protocol == "classic":
            producer = Producer({**common, "transactional.id": "stock"})
            producer.init_transactions(30)
            producer.begin_transaction()
            producer.send_offsets_to_transaction([TopicPartition("orders", 0, 90)], consumer.consumer_group_metadata(), 30)
            producer.commit_transaction(30)
        consumer.close()


def _is_assigned(consumer: Consumer) -> bool:
    consumer.poll(0.05)
    return len(consumer.assignment()) == 6


def _deleted(client: Client) -> None:
    """A group, one position of a group, and a topic with what was committed for it."""
    for group_id in ("deleted", "pruned", "mourning"):
        _commit(client, group_id, "payments", {0: 1, 1: 2, 2: 3})
    _commit(client, "mourning", "gone", {0: 1, 1: 2})
    [result] = client.ask(DeleteGroupsRequest(groups_names=["deleted"]), 2, DeleteGroupsResponse).results
    assert result.error_code == ErrorCode.NONE, ErrorCode(result.error_code)
    topic = OffsetDeleteRequestTopic("payments", [OffsetDeleteRequestPartition(1)])
    pruned = client.ask(OffsetDeleteRequest(group_id="pruned", topics=[topic]), 0, OffsetDeleteResponse)
    assert [pruned.error_code, pruned.topics[0].partitions[0].error_code] == [0, 0]
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name="gone")], timeout_ms=30_000)
    [removed] = client.ask(request, 6, DeleteTopicsResponse).responses
    assert removed.error_code == ErrorCode.NONE, ErrorCode(removed.error_code)
    eventually(lambda: ("gone", 0) not in committed(client, "mourning"))


def _modern(client: Client) -> None:
    """Groups of the newer protocols: with a member, and left by it."""
    for group_id in ("consumer-crew", "consumer-left"):
        member_id = str(uuid.UUID(int=len(group_id)))
        joined = _consumer_heartbeat(client, group_id, member_id, 0)
        topic = OffsetCommitRequestTopic(name="orders", partitions=[OffsetCommitRequestPartition(3, 33)])
        request = OffsetCommitRequest(group_id, joined.member_epoch, member_id, topics=[topic])
        _none_refused(client.ask(request, 9, OffsetCommitResponse))
        if group_id == "consumer-left":
            _consumer_heartbeat(client, group_id, member_id, -1)
    share = ShareGroupHeartbeatRequest("share-crew", str(uuid.UUID(int=1)), 0, subscribed_topic_names=["orders"])
    answer = client.ask(share, 1, ShareGroupHeartbeatResponse)
    assert answer.error_code == ErrorCode.NONE, answer.error_message
    for group_id in ("streams-crew", "streams-left"):
        member_id = str(uuid.UUID(int=2))
        streams = _streams_heartbeat(client, group_id, member_id, 0)
        if group_id == "streams-left":
            _streams_heartbeat(client, group_id, member_id, -1, streams.member_epoch)


def _consumer_heartbeat(client: Client, group_id: str, member_id: str, epoch: int) -> ConsumerGroupHeartbeatResponse:
    request = ConsumerGroupHeartbeatRequest(group_id, member_id, epoch)
    if epoch == 0:
        request.rebalance_timeout_ms, request.topic_partitions = KIND_PATIENCE_MS, []
        request.subscribed_topic_names = ["orders"]
    answer = client.ask(request, 1, ConsumerGroupHeartbeatResponse)
    assert answer.error_code == ErrorCode.NONE, answer.error_message
    return answer


def _streams_heartbeat(client: Client, group_id: str, member_id: str, epoch: int, last: int = 0) -> StreamsGroupHeartbeatResponse:
    request = StreamsGroupHeartbeatRequest(group_id, member_id, epoch)
    if epoch == 0:
        request.topology = Topology(0, [Subtopology("0", source_topics=["orders"])])
        request.rebalance_timeout_ms, request.process_id = KIND_PATIENCE_MS, "process"
        request.active_tasks, request.standby_tasks, request.warmup_tasks = [], [], []
    answer = client.ask(request, 0, StreamsGroupHeartbeatResponse)
    assert answer.error_code == ErrorCode.NONE, answer.error_message
    return answer


def _transactions(client: Client) -> None:
    """Committed, aborted, committed although a plain commit came between, and one that nobody ends."""
    for name, ends, between in (("done", True, False), ("undone", False, False), ("crossed", True, True), ("open", None, False)):
        _commit(client, f"txn-{name}", "orders", {0: 1, 1: 1})
        producer = _begin(client, f"producer-{name}", f"txn-{name}")
        _commit_in(client, f"producer-{name}", producer, f"txn-{name}", {0: 500, 2: 502})
        if between:
            _commit(client, f"txn-{name}", "orders", {0: 600})
        if ends is not None:
            request = EndTxnRequest(f"producer-{name}", producer.producer_id, producer.producer_epoch, ends)
            assert client.ask(request, 3, EndTxnResponse).error_code == ErrorCode.NONE
    eventually(lambda: committed(client, "txn-done") == {("orders", 0): 500, ("orders", 1): 1, ("orders", 2): 502})
    eventually(lambda: committed(client, "txn-crossed") == {("orders", 0): 600, ("orders", 1): 1, ("orders", 2): 502})


def _begin(client: Client, transactional_id: str, group_id: str) -> InitProducerIdResponse:
    find = FindCoordinatorRequest(key_type=1, coordinator_keys=[transactional_id])
    eventually(lambda: client.ask(find, 4, FindCoordinatorResponse).coordinators[0].error_code == ErrorCode.NONE)
    init = InitProducerIdRequest(transactional_id, 600_000)

    def producer() -> InitProducerIdResponse | None:
        answer = client.ask(init, 4, InitProducerIdResponse)
        return answer if answer.error_code == ErrorCode.NONE else None

    found = eventually(producer)
    assert found is not None
    add = AddOffsetsToTxnRequest(transactional_id, found.producer_id, found.producer_epoch, group_id)
    eventually(lambda: client.ask(add, 3, AddOffsetsToTxnResponse).error_code == ErrorCode.NONE)
    return found


def _commit_in(
    client: Client, transactional_id: str, producer: InitProducerIdResponse, group_id: str, offsets: Mapping[int, int]
) -> None:
    partitions = [TxnOffsetCommitRequestPartition(partition, offset) for partition, offset in offsets.items()]
    request = TxnOffsetCommitRequest(
        transactional_id,
        group_id,
        producer.producer_id,
        producer.producer_epoch,
        topics=[TxnOffsetCommitRequestTopic("orders", partitions)],
    )
    answer = client.ask(request, 3, TxnOffsetCommitResponse)
    assert {one.error_code for topic in answer.topics for one in topic.partitions} == {ErrorCode.NONE}


def _let_it_be_cleaned(client: Client) -> None:
    """Have Kafka's cleaner go over the offsets topic: segments roll quickly, and every group's shard gets something to compact."""
    configs = [AlterableConfig(name, 0, value) for name, value in ROLL.items()]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(2, OFFSETS_TOPIC, configs)])
    [altered] = client.ask(request, 1, IncrementalAlterConfigsResponse).responses
    assert altered.error_code == ErrorCode.NONE, altered.error_message


def roll(client: Client, number: int) -> None:
    """Commit once more in every simple group, so that a segment older than ``segment.ms`` is rolled."""
    for group in range(12):
        _commit(client, f"simple-{group}", "orders", {4: 4000 + number})


def _commit(client: Client, group_id: str, topic: str, offsets: Mapping[int, int]) -> None:
    """A simple commit; a broker that has just made its offsets topic may still be loading this group's part of it."""
    eventually(lambda: set(commit_alone(client, group_id, topic, offsets).values()) == {ErrorCode.NONE})


def _listed(client: Client) -> set[str]:
    return {group.group_id for group in client.ask(ListGroupsRequest(), 5, ListGroupsResponse).groups}


def _none_refused(response: OffsetCommitResponse) -> None:
    refused = [one for topic in response.topics for one in topic.partitions if one.error_code != ErrorCode.NONE]
    assert refused == []


def await_groups(client: Client, group_ids: Iterable[str]) -> None:
    """Until the coordinator of every group has loaded its part of the log: a list of groups says nothing of one that has not."""
    for group_id in group_ids:
        coordinator(client, group_id)
        eventually(partial(_is_answered, client, group_id))


def _is_answered(client: Client, group_id: str) -> bool:
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id, topics=None)])
    return client.ask(request, 9, OffsetFetchResponse).groups[0].error_code == ErrorCode.NONE
