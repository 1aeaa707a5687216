"""What a connection wrote it reads: two requests in one segment, as if the second had been sent after the answer to the first."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.end_txn import EndTxnRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.list_groups import ListGroupsRequest
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.simple_requests import OF_TRANSACTIONS, coordinator, make_topic, must_commit, topic_of

ROUNDS = 40
TOPIC = "orders-in-order"
# Of the other APIs; of those of offsets. Version 4 of those of transactions is the last in which each is asked for by itself.
VERSIONS = {
    "DescribeGroupsRequest": 5,
    "ListGroupsRequest": 4,
    "DeleteGroupsRequest": 2,
    "OffsetDeleteRequest": 0,
    "InitProducerIdRequest": 4,
    "AddOffsetsToTxnRequest": 4,
    "TxnOffsetCommitRequest": 4,
    "EndTxnRequest": 4,
}
OFFSETS = 9


def at_once(client: Client, *requests: Message) -> list[Message]:
    """All in one segment; their answers."""
    versions = [VERSIONS.get(type(request).__name__, OFFSETS) for request in requests]
    client.send_bytes(b"".join(client.frame(*each) for each in zip(requests, versions, strict=True)))
    return [client.receive() for _ in requests]


def commit(group: str, offset: int) -> Message:
    partitions = [OffsetCommitRequestPartition(0, offset)]
    return OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic(TOPIC, partitions=partitions)])


def fetch(group: str, *, is_stable: bool = False) -> Message:
    topics = [OffsetFetchRequestTopics(TOPIC, partition_indexes=[0])]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=topics)], require_stable=is_stable)


def begun(client: Client, transactional_id: str) -> tuple[str, int, int]:
    """A new transactional id, its producer's id and epoch."""
    coordinator(client, transactional_id, OF_TRANSACTIONS)
    found: list[Message] = []

    def is_there() -> bool:
        found[:] = at_once(client, InitProducerIdRequest(transactional_id, 60_000, -1, -1))
        return found[0].error_code == ErrorCode.NONE  # type: ignore[attr-defined]

    eventually(is_there)
    assert isinstance(found[0], InitProducerIdResponse)
    return transactional_id, found[0].producer_id, found[0].producer_epoch


def commit_in_transaction(producer: tuple[str, int, int], group: str, offset: int) -> Message:
    transactional_id, producer_id, epoch = producer
    topics = [TxnOffsetCommitRequestTopic(TOPIC, [TxnOffsetCommitRequestPartition(0, offset)])]
    return TxnOffsetCommitRequest(transactional_id, group, producer_id, epoch, topics=topics)


def fetched(answer: Message) -> int:
    offset: int = answer.groups[0].topics[0].partitions[0].committed_offset  # type: ignore[attr-defined]
    return offset


def delete_offsets(group: str) -> Message:
    return OffsetDeleteRequest(group, [OffsetDeleteRequestTopic(TOPIC, [OffsetDeleteRequestPartition(0)])])


@pytest.fixture
def names(client: Client, fresh_name: str) -> Callable[[], str]:
    """Groups that nobody has used yet."""
    if not topic_of(client, TOPIC, is_created=False).partitions:
        make_topic(client, TOPIC, 1)
    coordinator(client, fresh_name)
    numbers = count()
    return lambda: f"{fresh_name}-{next(numbers)}"


def test_a_commit_is_fetched(client: Client, names: Callable[[], str]) -> None:
    group = names()
    seen = [fetched(at_once(client, commit(group, number), fetch(group))[1]) for number in range(ROUNDS)]

    assert seen == list(range(ROUNDS))


def test_a_pipeline_of_commits_and_fetches(client: Client, names: Callable[[], str]) -> None:
    """Each fetch sees the commits before it, and none behind it."""
    group = names()
    pairs = [each for number in range(ROUNDS) for each in (commit(group, number), fetch(group))]

    assert [fetched(answer) for answer in at_once(client, *pairs)[1::2]] == list(range(ROUNDS))


def test_a_group_that_a_commit_made_is_described(client: Client, names: Callable[[], str]) -> None:
    groups = [names() for _ in range(ROUNDS)]
    seen = [at_once(client, commit(group, 1), DescribeGroupsRequest([group]))[1] for group in groups]

    assert {answer.groups[0].group_state for answer in seen} == {"Empty"}  # type: ignore[attr-defined]


def test_a_deleted_offset_is_not_fetched(client: Client, names: Callable[[], str]) -> None:
    groups = [names() for _ in range(ROUNDS)]
    for group in groups:
        must_commit(client, group, TOPIC, {0: 7})

    assert {fetched(at_once(client, delete_offsets(group), fetch(group))[1]) for group in groups} == {-1}


def test_a_deleted_group_is_not_fetched_and_not_listed(client: Client, names: Callable[[], str]) -> None:
    groups = [names() for _ in range(ROUNDS)]
    for group in groups:
        must_commit(client, group, TOPIC, {0: 7})

    for group in groups:
        _, read, listed = at_once(client, DeleteGroupsRequest([group]), fetch(group), ListGroupsRequest())
        assert fetched(read) == -1
        assert group not in [each.group_id for each in listed.groups]  # type: ignore[attr-defined]


def joining(group: str, member: str = "", metadata: bytes = b"1") -> JoinGroupRequest:
    return JoinGroupRequest(group, 60_000, 60_000, member, None, "consumer", [JoinGroupRequestProtocol("range", metadata)])


def joined_alone(client: Client, group: str) -> str:
    """The member id of the only member, which has its assignment."""
    member: str = client.call(joining(group), 3).member_id  # type: ignore[attr-defined]
    client.call(SyncGroupRequest(group, 1, member, assignments=[SyncGroupRequestAssignment(member, b"x")]), 3)
    return member


def test_a_heartbeat_behind_a_join_is_of_the_generation_after_it(
    address: tuple[str, int], client: Client, names: Callable[[], str]
) -> None:
    """As in Kafka: ILLEGAL_GENERATION, since the join has made a new one; and not REBALANCE_IN_PROGRESS while it is parked."""
    group = names()
    with Client(address) as other:
        member = joined_alone(client, group)
        other.send(joining(group), 3)
        beats = [client.call(HeartbeatRequest(group, 1, member), 3)]
        while not beats[-1].error_code:  # type: ignore[attr-defined]
            beats.append(client.call(HeartbeatRequest(group, 1, member), 3))
        client.call(joining(group, member), 3)
        second: str = other.receive().member_id  # type: ignore[attr-defined]

        client.send_bytes(client.frame(joining(group, member, b"2"), 3) + client.frame(HeartbeatRequest(group, 2, member), 3))
        other.call(joining(group, second), 3)
        again, beat = client.receive(), client.receive()

    assert (again.error_code, again.generation_id) == (ErrorCode.NONE, 3)  # type: ignore[attr-defined]
    assert beat.error_code == ErrorCode.ILLEGAL_GENERATION  # type: ignore[attr-defined]


def test_a_leave_passes_its_own_join(address: tuple[str, int], client: Client, names: Callable[[], str]) -> None:
    """It does not wait for a rebalance that needs the others, and leaves no ghost (docs/differences.md)."""
    group = names()
    with Client(address) as other:
        joined_alone(other, group)
    required: str = client.call(joining(group), 4).member_id  # type: ignore[attr-defined]
    leave = LeaveGroupRequest(group, members=[MemberIdentity(required)])
    client.send_bytes(client.frame(joining(group, required), 4) + client.frame(leave, 3))
    joined, left = client.receive(), client.receive()

    assert joined.error_code == ErrorCode.UNKNOWN_MEMBER_ID  # type: ignore[attr-defined]
    assert left.error_code == ErrorCode.NONE  # type: ignore[attr-defined]


@pytest.mark.parametrize("ends_first", [0, 1])
def test_transactions_of_two_producers_in_one_pipeline(client: Client, names: Callable[[], str], ends_first: int) -> None:
    """The one that was asked to commit last counts, whichever ends last."""
    group = names()
    producers = [begun(client, names()) for _ in range(2)]
    ends = [EndTxnRequest(*each, committed=True) for each in producers]
    answers = at_once(
        client,
        *[AddOffsetsToTxnRequest(*each, group) for each in producers],
        *[commit_in_transaction(each, group, offset) for offset, each in enumerate(producers, 1)],
        ends[ends_first],
        ends[1 - ends_first],
    )

    assert [each.error_code for each in (*answers[:2], *answers[4:])] == [ErrorCode.NONE] * 4  # type: ignore[attr-defined]
    eventually(lambda: fetched(at_once(client, fetch(group, is_stable=True))[0]) == 2)
