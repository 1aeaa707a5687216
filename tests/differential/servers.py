"""Both servers for the tests of a file: their properties, and the topics that scripts commit to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final, Self

from protocol.error_codes import ErrorCode
from protocol.fields import uuid_text
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.describe_transactions import DescribeTransactionsRequest
from protocol.messages.find_coordinator import FindCoordinatorRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.init_producer_id import InitProducerIdRequest
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from protocol.messages.read_share_group_state_summary import (
    PartitionData,
    ReadShareGroupStateSummaryRequest,
    ReadStateSummaryData,
)
from tests.differential.awaiting import Server
from tests.differential.records import OFFSETS_PARTITIONS, SHARES_PARTITIONS, TRANSACTIONS_PARTITIONS
from tests.differential.several_nodes import SeveralNodes
from tests.differential.wire import Connection
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.server import Server as OurServer

# One thread of each kind, so that requests are handled in the order in which they are sent (side.py).
SINGLE_THREADED: Final = {"num.network.threads": 1, "num.io.threads": 1, "group.coordinator.threads": 1}
LIMITS: Final[Mapping[str, object]] = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1000,
    "group.max.session.timeout.ms": 300_000,
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": OFFSETS_PARTITIONS,
}
OTHER_LIMITS: Final[Mapping[str, object]] = {
    **LIMITS,
    "group.initial.rebalance.delay.ms": 2500,
    "group.max.size": 2,
    "offset.metadata.max.bytes": 10,
    "offsets.retention.check.interval.ms": 1000,
    "auto.create.topics.enable": "true",
}
PARTITIONS: Final[Mapping[str, object]] = {
    "transaction.state.log.num.partitions": TRANSACTIONS_PARTITIONS,
    "share.coordinator.state.topic.num.partitions": SHARES_PARTITIONS,
}
START_WITHIN_S: Final = 240
TOPICS: Final = {"t": 3, "u": 2}
# All that an answer depends on, but for the script and the properties of transactions.
CONDITIONS: Final = (SINGLE_THREADED, LIMITS, OTHER_LIMITS, TOPICS)
# Properties of transactions in the first two lives, and in the third, in which ids are forgotten that nobody uses.
TRANSACTIONS: Final[Mapping[str, object]] = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 200}
EXPIRING: Final[Mapping[str, object]] = {
    "transactional.id.expiration.ms": 5000,
    "transaction.remove.expired.transaction.cleanup.interval.ms": 500,
    "producer.id.expiration.ms": 1000,
    "producer.id.expiration.check.interval.ms": 300,
}
# Properties of consumer groups in every life. Targets are computed at once:
# a script that is about the interval sets it for its group.
CONSUMERS: Final[Mapping[str, object]] = {
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.min.heartbeat.interval.ms": 1000,
    "group.consumer.heartbeat.interval.ms": 1000,
}
# Properties of share groups in every life.
SHARES: Final[Mapping[str, object]] = {
    "group.share.assignment.interval.ms": 0,
    "group.share.min.session.timeout.ms": 1000,
    "group.share.min.heartbeat.interval.ms": 1000,
    "group.share.heartbeat.interval.ms": 1000,
}
# Properties of streams groups in every life.
STREAMS: Final[Mapping[str, object]] = {
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.streams.min.session.timeout.ms": 1000,
    "group.streams.min.heartbeat.interval.ms": 1000,
    "group.streams.heartbeat.interval.ms": 1000,
}
# … in the second life, of share groups and of streams groups.
FEW_SHARERS: Final[Mapping[str, object]] = {"group.share.max.size": 2}
FEW_STREAMERS: Final[Mapping[str, object]] = {"group.streams.max.size": 2}
# … in the second life, and where scripts wait for each other before it: no session ends meanwhile, however long that takes.
PATIENT: Final[Mapping[str, object]] = {
    f"group.{kind}.{name}session.timeout.ms": 30 * 60 * 1000 for kind in ("consumer", "share", "streams") for name in ("", "max.")
}
# How many updates of a share partition come between two snapshots in each of the first three lives.
_UPDATES: Final = "share.coordinator.snapshot.update.records.per.snapshot"
UPDATES: Final[tuple[Mapping[str, object], ...]] = tuple({_UPDATES: count} for count in (500, 1, 0))
# No share partition is cold while scripts run, and a broker keeps its log of them.
_NEVER_MS: Final = 24 * 60 * 60 * 1000
WARM: Final[Mapping[str, object]] = {"share.coordinator.cold.partition.snapshot.interval.ms": _NEVER_MS}
UNTRIMMED: Final[Mapping[str, object]] = {"share.coordinator.state.topic.prune.interval.ms": _NEVER_MS}
# … in the second life, and the migration policy of each life from the third on.
FEW_CONSUMERS: Final[Mapping[str, object]] = {"group.consumer.max.size": 2}
POLICIES: Final = ("upgrade", "downgrade", "disabled")
# Books whose answers depend on these.
_OF_TRANSACTIONS: Final = {"scripts/transaction_timeouts", "scripts/transactional_id_expiration", "timed-sequences"}

# Books that describe all settings of a group.
_OF_GROUP_SETTINGS: Final = {"scripts/configs", "scripts/consumer_admin"}


def conditions(book: str) -> object:
    """All that the answers to the scripts of a book depend on."""
    if is_of_shares(book):
        return (*CONDITIONS, CONSUMERS, SHARES, FEW_SHARERS, UPDATES)
    if is_of_streams(book):
        return (*CONDITIONS, STREAMS, FEW_STREAMERS)
    if book in _OF_GROUP_SETTINGS:
        return (*CONDITIONS, CONSUMERS, FEW_CONSUMERS, STREAMS)
    if is_of_consumers(book):
        return (*CONDITIONS, CONSUMERS, FEW_CONSUMERS)
    return (*CONDITIONS, TRANSACTIONS, EXPIRING) if book in _OF_TRANSACTIONS else CONDITIONS


def is_of_consumers(book: str) -> bool:
    """Whether the scripts of a book are about consumer groups."""
    return book.removeprefix("scripts/").startswith("consumer")


def is_of_shares(book: str) -> bool:
    """Whether the scripts of a book are about share groups or share state."""
    return book.removeprefix("scripts/").startswith("share")


def is_of_streams(book: str) -> bool:
    """Whether the scripts of a book are about streams groups."""
    return book.removeprefix("scripts/").startswith("streams")


def policy(name: str) -> Mapping[str, object]:
    """The property of a migration policy."""
    return {"group.consumer.migration.policy": name}


class Life:
    """Both servers from one start to the next. The broker starts when it is first asked for: transcripts stand for it."""

    def __init__(self, ours: Server, start_kafka: Callable[[], Server]) -> None:
        self.ours = ours
        self._start_kafka = start_kafka
        self._kafka: Server | None = None
        self._lock = Lock()

    def kafka(self) -> Server:
        with self._lock:
            if self._kafka is None:
                self._kafka = self._start_kafka()
            return self._kafka


class Pair:
    """Both servers over their lives; ours may be several ``nodes``. A context manager: leaving it ends them."""

    def __init__(self, directory: Path, nodes: int = 0) -> None:
        (directory / "ours").mkdir()
        self._broker = KafkaBroker(directory / "kafka")
        self._ours = SeveralNodes(directory / "ours", nodes) if nodes else OurServer(directory / "ours")
        self._has_begun = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self._broker.__exit__(*ended)
        self._ours.__exit__(*ended)

    def start(self, limits: Mapping[str, object]) -> Life:
        """Start ours, or start it again, with these properties, and the broker when it is wanted."""
        is_first, self._has_begun = not self._has_begun, True
        if not is_first:
            # A broker takes its time, in which sessions would end here alone.
            self._ours.stop()
            self._broker.__exit__()
        limits = {**TRANSACTIONS, **CONSUMERS, **SHARES, **STREAMS, **UPDATES[0], **WARM, **limits}
        self._ours.overrides = {**limits, **PARTITIONS, "log.flush": "os"}
        self._ours.start()
        has_delay = limits["group.initial.rebalance.delay.ms"] != 0
        prepare = partial(prepared, has_delay=has_delay, is_first=is_first)
        return Life(
            prepare("ours", self._ours.address, is_late=isinstance(self._ours, SeveralNodes)),
            partial(self._start_kafka, limits, prepare),
        )

    def _start_kafka(self, limits: Mapping[str, object], prepare: Callable[..., Server]) -> Server:
        self._broker.start({**SINGLE_THREADED, **UNTRIMMED, **limits, **PARTITIONS}, START_WITHIN_S)
        return prepare("Kafka", self._broker.address)


def prepared(
    name: str, address: tuple[str, int], *, has_delay: bool = False, is_first: bool = True, is_late: bool = False
) -> Server:
    """The server once it coordinates groups, with the topics made."""
    connection = Connection(address, "prepare")
    request = CreateTopicsRequest([CreatableTopic(topic, count, 1) for topic, count in TOPICS.items()], 30_000)
    for topic in connection.ask(request, 7)["topics"]:
        assert topic["errorCode"] in {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}, topic
    topic_ids: dict[str, bytes] = {}

    def knows_topics() -> bool:
        asked = MetadataRequest([MetadataRequestTopic(name=topic) for topic in TOPICS], False)
        for topic in connection.ask(asked, 12)["topics"]:
            topic_ids[topic["name"]] = topic["topicId"]
            if topic["errorCode"] != ErrorCode.NONE or len(topic["partitions"]) != TOPICS[topic["name"]]:
                return False
        return True

    def coordinates() -> bool:
        for group_id in ("group-0", "group-1", "group-2", "group-3", "group-4", "group-5", "group-6", "group-7"):
            connection.ask(FindCoordinatorRequest(group_id, 0, [group_id]), 4)
            if connection.ask(HeartbeatRequest(group_id, 0, "nobody"), 4)["errorCode"] != ErrorCode.UNKNOWN_MEMBER_ID:
                return False
        return True

    def coordinates_transactions() -> bool:
        """It has also given out the producer id 0, which is what answers have that name no producer."""
        connection.ask(FindCoordinatorRequest("", 1, ["transaction"]), 4)
        described = connection.ask(DescribeTransactionsRequest(["transaction"]), 0)["transactionStates"][0]["errorCode"]
        given = connection.ask(InitProducerIdRequest(None), 5)["errorCode"]
        return described == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND and given == ErrorCode.NONE

    def coordinates_shares() -> bool:
        key, asked = f"group:{uuid_text(topic_ids['t'])}:0", ReadStateSummaryData(topic_ids["t"], [PartitionData(0, -1)])
        connection.ask(FindCoordinatorRequest(key, 2, [key]), 6)
        [found] = connection.ask(ReadShareGroupStateSummaryRequest("group", [asked]), 1)["results"][0]["partitions"]
        return bool(found["errorCode"] == ErrorCode.NONE)

    eventually(coordinates_transactions)
    eventually(knows_topics)
    eventually(coordinates)
    eventually(coordinates_shares)
    connection.close()
    return Server(name, address, topic_ids, has_delay=has_delay, is_first=is_first, is_late=is_late)
