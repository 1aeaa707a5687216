"""What a data directory of any version holds: a life that each has had, as far as it knew it, and what is asked afterwards.

Steps need an API that the server offers, so the same life makes directories with servers that had no transactions yet.
Nothing in it depends on the time at which the directory is opened: offsets do not expire under ``PROPERTIES``, sessions begin
anew at a start, and the one transaction that is left open is not among the answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from protocol.fields import Message
from protocol.messages import streams_group_heartbeat as streams
from protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest, ScramCredentialUpsertion
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.describe_transactions import DescribeTransactionsRequest
from protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from protocol.messages.list_groups import ListGroupsRequest
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from protocol.messages.share_group_describe import ShareGroupDescribeRequest
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from tests.support.client import Client
from tests.support.members import Member, join_all
from tests.support.producer import Producer
from tests.support.share_state import reading, results_of, writing
from tests.support.simple_requests import coordinator, make_topic, topic_of

PROPERTIES: Final = {"offsets.retention.minutes": 2_000_000_000, "log.history.retention.ms": -1}
LONGEST_SESSION_MS: Final = 1_800_000
SIMPLE: Final = [f"simple-{number}" for number in range(12)]
CLASSIC, CONSUMER, SHARE, STREAMS, PAID = "classic", "consumer", "share", "streams", "paid"
LEFT_OPEN: Final = "left-open"
OF_GROUP: Final = 32
"""The type of a group in requests about configs."""

Json = Any
Address = tuple[str, int]


def offered(client: Client) -> frozenset[str]:
    """What a server offers of that for which steps look."""
    answer = client.ask(ApiVersionsRequest("tests", "1"), 3, ApiVersionsResponse)
    keys = {each.api_key for each in answer.api_keys}
    return frozenset(name for name, key in _LOOKED_FOR.items() if key in keys)


_LOOKED_FOR: Final = {
    "users": 51,
    "configs": 44,
    "consumer": 68,
    "share": 76,
    "share state": 85,
    "streams": 88,
    "transactions": 65,
}


def live(address: Address) -> None:
    """The first half, which a layer may hold later."""
    with Client(address) as client:
        apis = offered(client)
        make_topic(client, "orders", 4)
        make_topic(client, "events", 2)
        for number, group in enumerate(SIMPLE):
            for offset in (1, 10 + number):
                _commit(client, group, "orders", {partition: offset + partition for partition in range(4)}, f"note {number}")
        for kind, step in (("users", _user), ("configs", _config)):
            if kind in apis:
                step(client)
        if "consumer" in apis:
            _join_consumer(address)
        if "share" in apis:
            _join_share(address)
        if "streams" in apis:
            _join_streams(address)
        if "transactions" in apis:
            _pay(address)
    _join_classic(address)


def live_on(address: Address) -> None:
    """The second half, which stays behind any layer."""
    with Client(address) as client:
        for number, group in enumerate(SIMPLE[::3]):
            _commit(client, group, "orders", {0: 1_000 + number}, "later")
        _commit(client, "late", "events", {0: 7, 1: 8}, "")
        if "transactions" in offered(client):
            with Producer(address, LEFT_OPEN) as producer:
                producer.init()
                producer.add_offsets(PAID)
                producer.commit(PAID, "events", {1: 99})


def answers(address: Address) -> dict[str, Json]:
    """What the server says of all that, as plain values: bytes in base64, lists in an order of their own."""
    with Client(address) as client:
        return {name: _plain(answer) for name, answer in _asked(client, offered(client))}


def without_new(value: Json, like: Json) -> Json:
    """The value without the fields that messages have gained since ``like`` was stored."""
    if isinstance(value, dict) and isinstance(like, dict):
        return {key: without_new(value[key], like[key]) for key in like if key in value}
    if isinstance(value, list) and isinstance(like, list) and len(value) == len(like):
        return [without_new(one, other) for one, other in zip(value, like, strict=True)]
    return value


def _asked(client: Client, apis: frozenset[str]) -> Iterator[tuple[str, Message]]:
    for group in [*SIMPLE, "late", CLASSIC, PAID]:
        # Offsets of an open transaction are no secret, and not stable.
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)])
        yield f"offsets of {group}", client.call(request, 8)
    yield "topics", client.call(MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in ("orders", "events")]), 12)
    yield "groups", client.call(ListGroupsRequest(), 4)
    yield "classic group", client.call(DescribeGroupsRequest([CLASSIC]), 5)
    kinds: dict[str, Callable[[], tuple[Message, int]]] = {
        "users": lambda: (DescribeUserScramCredentialsRequest(None), 0),
        "configs": lambda: (DescribeConfigsRequest([DescribeConfigsResource(OF_GROUP, CONSUMER, None)]), 4),
        "consumer": lambda: (ConsumerGroupDescribeRequest([CONSUMER]), 0),
        "share": lambda: (ShareGroupDescribeRequest([SHARE]), 1),
        "share state": lambda: (reading(SHARE, [(topic_of(client, "orders", is_created=False).topic_id, 0)]), 0),
        "streams": lambda: (StreamsGroupDescribeRequest([STREAMS]), 0),
        "transactions": lambda: (DescribeTransactionsRequest(["settled"]), 0),
    }
    for kind, request_of in kinds.items():
        if kind in apis:
            message, version = request_of()
            yield kind, client.call(message, version)


def _plain(answer: Message) -> Json:
    """Sort what has no order, and leave out what belongs to the process that answers."""

    def settled(value: Json) -> Json:
        if isinstance(value, dict):
            return {key: settled(each) for key, each in value.items() if key not in _OF_THE_PROCESS}
        if isinstance(value, list):
            return sorted((settled(each) for each in value), key=msgspec.json.encode)
        return value

    return settled(msgspec.to_builtins(answer))


_OF_THE_PROCESS: Final = {"throttle_time_ms", "brokers", "host", "port", "controller_id", "cluster_id", "leader_epoch"}


def _commit(client: Client, group: str, topic: str, offsets: dict[int, int], note: str) -> None:
    partitions = [OffsetCommitRequestPartition(index, offset, committed_metadata=note) for index, offset in offsets.items()]
    answer: Any = client.call(OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)]), 8)
    assert [each.error_code for found in answer.topics for each in found.partitions] == [0] * len(offsets), answer


def _join_classic(address: Address) -> None:
    where = coordinator_of(address, CLASSIC)
    first, second = (Member(where, CLASSIC, session_timeout_ms=LONGEST_SESSION_MS) for _ in range(2))
    join_all([first])
    join_all([first], [second])
    assert not any(first.commit("events", {0: 5, 1: 6}).values())
    for each in (first, second):
        each.client.close()


def coordinator_of(address: Address, group: str) -> Address:
    with Client(address) as client:
        return coordinator(client, group)


def _joined(
    address: Address, group: str, request_of: Callable[[int], Message], version: int, is_done: Callable[[Any], bool]
) -> None:
    """Heartbeat as a new member does, until it has what it should have."""
    with Client(coordinator_of(address, group)) as client:
        epoch, deadline = 0, time.monotonic() + 30
        while True:
            answer: Any = client.call(request_of(epoch), version)
            assert not answer.error_code, answer
            epoch = answer.member_epoch
            if is_done(answer):
                break
            assert time.monotonic() < deadline, answer
            time.sleep(0.05)
        # What was given is owned from the next heartbeat on.
        client.call(request_of(epoch), version)


def _has_partitions(answer: Any) -> bool:
    return answer.assignment is not None and bool(answer.assignment.topic_partitions)


def _join_consumer(address: Address) -> None:
    _joined(
        address,
        CONSUMER,
        lambda epoch: (
            ConsumerGroupHeartbeatRequest(
                CONSUMER, "member-1", epoch, rebalance_timeout_ms=60_000, subscribed_topic_names=["orders"], topic_partitions=[]
            )
            if epoch == 0
            else ConsumerGroupHeartbeatRequest(CONSUMER, "member-1", epoch)
        ),
        0,
        _has_partitions,
    )


def _join_share(address: Address) -> None:
    _joined(
        address,
        SHARE,
        lambda epoch: ShareGroupHeartbeatRequest(SHARE, "member-2", epoch, None, ["orders"] if epoch == 0 else None),
        1,
        _has_partitions,
    )
    with Client(address) as client:
        where = [(topic_of(client, "orders", is_created=False).topic_id, 0)]
        epoch = results_of(client.call(reading(SHARE, where), 0))[where[0]].state_epoch
        written: Any = client.call(writing(SHARE, where, (0, 4, 1, 0), (5, 9, 2, 2), state_epoch=epoch, start_offset=0), 0)
        assert not written.results[0].partitions[0].error_code, written


def _join_streams(address: Address) -> None:
    topology = streams.Topology(1, [streams.Subtopology("0", ["orders"])])
    _joined(
        address,
        STREAMS,
        lambda epoch: (
            streams.StreamsGroupHeartbeatRequest(
                STREAMS,
                "member-3",
                epoch,
                rebalance_timeout_ms=60_000,
                topology=topology,
                process_id="process",
                active_tasks=[],
                standby_tasks=[],
                warmup_tasks=[],
            )
            if epoch == 0
            else streams.StreamsGroupHeartbeatRequest(STREAMS, "member-3", epoch)
        ),
        0,
        lambda answer: bool(answer.active_tasks),
    )


def _pay(address: Address) -> None:
    with Producer(address, "settled") as producer:
        producer.init()
        for offset in (3, 4):
            producer.add_offsets(PAID)
            producer.commit(PAID, "events", {0: offset})
            producer.end()
            producer.until("CompleteCommit")


def _user(client: Client) -> None:
    answer: Any = client.call(
        AlterUserScramCredentialsRequest([], [ScramCredentialUpsertion("alice", 1, 4096, b"salt" * 4, b"password" * 4)]), 0
    )
    assert not answer.results[0].error_code, answer


def _config(client: Client) -> None:
    configs = [AlterableConfig("consumer.session.timeout.ms", 0, "50000")]
    client.call(IncrementalAlterConfigsRequest([AlterConfigsResource(OF_GROUP, CONSUMER, configs)]), 1)
