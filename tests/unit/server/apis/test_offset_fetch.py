"""OffsetFetch before and behind the group's shard: what is read at once, in steps, and only when it is durable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.group.shard import GroupShard
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.offsets.fetch import OFFSETS_PER_STEP
from coordinator_server.runtime.context import ShardContext, ShardState
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.offset_fetch import (
    AWAIT_SHARD,
    FETCH_LATEST,
    OFFSET_FETCH_API,
)
from protocol.coordinator_records import GROUP_SERDE
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponsePartitions,
)
from tests.support.api_peer import ApiPeer
from tests.support.group import GroupLog

pytestmark = pytest.mark.interpreted

ORDERS = Topic("orders", b"i" * 16, 3)
MANY = OFFSETS_PER_STEP + 100
# By version: one group in partitions of topics, an error of the group, several groups, topic ids.
VERSIONS = (1, 5, 7, 8, 9, 10)
STABLE_FROM = 7
READS = [(version, stable) for version in VERSIONS for stable in (False, True) if version >= STABLE_FROM or not stable]
Offsets = dict[tuple[str, int], int]


class Server:
    """A node with one shard of groups. Reads or writes fail with ``error``; writes wait while ``is_slow``, and for the shard."""

    def __init__(self) -> None:
        self.log = GroupLog()
        self.topics = {"orders": ORDERS}
        self.partitions = 1
        self.groups = self.image = self
        self.error: ErrorCode | None = None
        self.is_slow = False
        self.is_here = True
        self.later: list[Callable[[], None]] = []
        self.reads = 0
        # What the runtime would look at before it answers a request once more.
        self.context: ShardContext[GroupShard] = ShardContext(ShardId("t", 0), 1, GROUP_SERDE)
        self.context.state = ShardState.ACTIVE
        # Of each read of the latest offsets, whether they must be stable.
        self.written: list[bool] = []
        self.peer = ApiPeer(OFFSET_FETCH_API, self)

    def partition_of(self, group_id: str) -> int:
        return 0

    def topic(self, name: str) -> Topic | None:
        return self.topics.get(name)

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        return next((topic for topic in self.topics.values() if topic.topic_id == topic_id), None)

    def check_current(self) -> None:
        """It is."""

    def read(self, partition: int, operation: Callable[..., Any], *arguments: Any) -> Any:
        """As the runtime of groups."""
        self.reads += 1
        if self.error is not None or not self.is_here:
            raise CoordinatorError(self.error or ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return operation(self.log.shard, self.log.committed_offset, *arguments)

    def read_repeatable(self, partition: int, operation: Callable[..., Any], request: Any) -> tuple[Any, Repeat | None] | None:
        """As the runtime of groups."""
        found = self.read(partition, operation, request)
        return found and (found.answer, found.again and Repeat(self.context, found.again, found.answer))

    def write(
        self, partition: int, operation: WriteOperation[Any, Any, Any], context: RequestContext, request: Any, reply: Reply[Any]
    ) -> None:
        """As the runtime of groups."""
        assert operation in (AWAIT_SHARD, FETCH_LATEST)
        if operation is FETCH_LATEST:
            self.written.append(request.require_stable)

        def answer() -> None:
            if self.error is not None:
                reply.fail(self.error)
            else:
                reply.complete(self.log.run(operation.call, request, version=context.api_version).response)

        self.later.append(answer)
        if self.is_here and not self.is_slow:
            self.work()

    def state(self, partition: int) -> GroupShard | None:
        """As the runtime of groups."""
        return self.log.shard if self.is_here else None

    def work(self) -> None:
        later, self.later = self.later, []
        for answer in later:
            answer()

    def commit(self, group: str, offsets: dict[int, int]) -> None:
        partitions = [OffsetCommitRequestPartition(*row) for row in offsets.items()]
        topics = [OffsetCommitRequestTopic("orders", ORDERS.topic_id, partitions)]
        self.log.run(GroupShard.commit_offsets, OffsetCommitRequest(group, topics=topics), version=9)
        self.context.high_watermark = self.log.committed_offset

    def begin(self, version: int, groups: dict[str, list[int] | None], *, stable: bool = False) -> None:
        """Ask, and see how far that goes."""
        self.peer.arrive(request_of(version, groups, stable=stable), version)
        self.peer.turns(20)

    def ask(self, version: int, groups: dict[str, list[int] | None], *, stable: bool = False) -> OffsetFetchResponse:
        answer = self.peer.ask(request_of(version, groups, stable=stable), version)
        assert isinstance(answer, OffsetFetchResponse)
        return answer


def request_of(version: int, groups: dict[str, list[int] | None], *, stable: bool = False) -> OffsetFetchRequest:
    """For these partitions of ``orders``, or for all."""
    if version < 8:
        [(group, partitions)] = groups.items()
        topics = None if partitions is None else [OffsetFetchRequestTopic("orders", partitions)]
        return OffsetFetchRequest(group, topics, require_stable=stable)
    asked = []
    for group, partitions in groups.items():
        topic = OffsetFetchRequestTopics(
            "orders" if version < 10 else "", ORDERS.topic_id if version >= 10 else bytes(16), partition_indexes=partitions or []
        )
        asked.append(OffsetFetchRequestGroup(group, topics=None if partitions is None else [topic]))
    return OffsetFetchRequest(groups=asked, require_stable=stable)


def told(answer: OffsetFetchResponse, version: int) -> list[tuple[int, dict[int, tuple[int, int]]]]:
    """Of each group: its error, and offset and error of each partition."""
    groups: list[Any] = [answer] if version < 8 else answer.groups
    return [
        (
            group.error_code,
            {
                each.partition_index: (each.committed_offset, each.error_code)
                for topic in group.topics
                for each in topic.partitions
            },
        )
        for group in groups
    ]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.mark.parametrize(("version", "stable"), READS)
@pytest.mark.parametrize("count", [3, MANY])
def test_offsets_are_the_same_however_they_are_read(server: Server, version: int, stable: bool, count: int) -> None:
    """At once or in steps, as of now or when they are durable; a partition without an offset has -1."""
    server.commit("g", {index: 10 * index for index in range(count)})

    some = server.ask(version, {"g": [0, 2, count]}, stable=stable)

    assert told(some, version) == [(0, {0: (0, 0), 2: (20, 0), count: (-1, 0)})]
    if version >= 2:
        assert told(server.ask(version, {"g": None}, stable=stable), version) == [
            (0, {index: (10 * index, 0) for index in range(count)})
        ]


@pytest.mark.parametrize("version", [8, 9, 10])
@pytest.mark.parametrize("stable", [False, True])
def test_groups_are_answered_in_the_order_of_the_request(server: Server, version: int, stable: bool) -> None:
    """However their shards are."""
    groups: dict[str, list[int] | None] = {group: [0] for group in ("c", "a", "b")}
    for number, group in enumerate(groups):
        server.commit(group, {0: number})
    answer = server.ask(version, groups, stable=stable)

    assert [group.group_id for group in answer.groups] == [*groups]
    assert told(answer, version) == [(0, {0: (number, 0)}) for number in range(3)]
    assert server.ask(version, {}, stable=stable).groups == []


@pytest.mark.parametrize(("count", "is_stable"), [(3, True), (MANY, True), (3, False), (MANY, False)])
def test_stable_offsets_are_read_by_an_operation(server: Server, count: int, is_stable: bool) -> None:
    """Which waits until what it has read is durable. The answer waits as long."""
    server.commit("g", dict.fromkeys(range(count), 5))
    server.is_slow = True

    server.begin(7, {"g": None}, stable=is_stable)

    assert server.peer.is_waiting or not is_stable
    assert server.written == ([True] if is_stable else [])
    server.work()
    answer = server.peer.receive(7)
    assert isinstance(answer, OffsetFetchResponse)
    assert len(told(answer, 7)[0][1]) == count


@pytest.mark.parametrize(("version", "stable"), READS)
@pytest.mark.parametrize("count", [3, MANY])
@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_a_shard_that_refuses_is_an_error_of_the_group(
    server: Server, version: int, stable: bool, count: int, error: ErrorCode, shown: ErrorCode
) -> None:
    """Of each partition in versions without one; as Kafka's clients understand it."""
    server.commit("g", dict.fromkeys(range(count), 5))
    if not stable:
        server.error = error
        answer = server.ask(version, {"g": [0]})
    else:
        server.is_slow = True
        server.begin(version, {"g": None}, stable=True)
        server.error = error
        server.work()
        received = server.peer.receive(version)
        assert isinstance(received, OffsetFetchResponse)
        answer = received

    expected: Any = [(0, {0: (-1, shown)})] if version < 2 else [(shown, {})]
    assert told(answer, version) == expected


@pytest.mark.parametrize(("version", "stable"), READS)
@pytest.mark.parametrize("count", [3, MANY])
def test_a_read_waits_for_a_shard_that_comes(server: Server, version: int, stable: bool, count: int) -> None:
    """As writes do, whose runtime says for how long."""
    server.commit("g", dict.fromkeys(range(count), 5))
    server.is_here = False
    server.begin(version, {"g": [0, 2]}, stable=stable)
    assert server.peer.is_waiting

    server.is_here = True
    server.work()

    answer = server.peer.receive(version)
    assert isinstance(answer, OffsetFetchResponse)
    assert told(answer, version) == [(0, {0: (5, 0), 2: (5, 0)})]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_read_is_refused_when_its_shard_does_not_come(server: Server, version: int) -> None:
    server.is_here = False
    server.begin(version, {"g": [0]})
    server.error = ErrorCode.NOT_COORDINATOR
    server.work()

    answer = server.peer.receive(version)
    assert isinstance(answer, OffsetFetchResponse)
    shown: Any = [(0, {0: (-1, server.error)})] if version < 2 else [(server.error, {})]
    assert told(answer, version) == shown


@pytest.mark.parametrize("count", [3, MANY])
def test_topics_by_id_that_are_not_there(server: Server, count: int) -> None:
    """An id that is unknown has an error; without topics in the request, deleted ones are left out."""
    server.commit("g", dict.fromkeys(range(count), 5))
    unknown = OffsetFetchRequestTopics("", b"u" * 16, partition_indexes=[0, 1])
    known = OffsetFetchRequestTopics("", ORDERS.topic_id, partition_indexes=[1])

    answer = server.peer.ask(OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=[unknown, known])]), 10)

    assert isinstance(answer, OffsetFetchResponse)
    assert [
        (topic.topic_id, [(each.partition_index, each.committed_offset, each.error_code) for each in topic.partitions])
        for topic in answer.groups[0].topics
    ] == [
        (ORDERS.topic_id, [(1, 5, 0)]),
        (b"u" * 16, [(0, -1, ErrorCode.UNKNOWN_TOPIC_ID), (1, -1, ErrorCode.UNKNOWN_TOPIC_ID)]),
    ]


def test_offsets_from_before_topic_ids_get_the_ids_of_their_topics(server: Server) -> None:
    """Those of topics that do not exist any more are left out: they have none."""
    for topic in ("orders", "gone"):
        partitions = [OffsetCommitRequestPartition(0, 5)]
        asked = OffsetCommitRequestTopic(topic, bytes(16), partitions)
        server.log.run(GroupShard.commit_offsets, OffsetCommitRequest("g", topics=[asked]), version=9)

    answer = server.ask(10, {"g": None})

    assert [topic.topic_id for topic in answer.groups[0].topics] == [ORDERS.topic_id]


@pytest.mark.parametrize("count", [3, MANY])
def test_a_fetch_behind_a_stable_one_reads_as_much(server: Server, count: int) -> None:
    """The one before it reads what is not durable yet; see server/wire/order.py."""
    server.commit("g", dict.fromkeys(range(count), 5))
    server.log.is_holding = True
    server.commit("h", {0: 5})
    server.is_slow = True

    server.begin(7, {"h": [0]}, stable=True)
    server.begin(7, {"g": None})

    assert server.written == [True, False]
    assert server.peer.is_waiting


def test_what_takes_steps_leaves_the_rest_of_the_turn_to_others(server: Server) -> None:
    """The next request of the connection waits for its next turn."""
    server.commit("g", dict.fromkeys(range(MANY), 5))
    server.peer.arrive(request_of(7, {"g": None}), 7)
    reads = server.reads

    server.peer.arrive(request_of(7, {"h": None}), 7)

    assert server.reads == reads
    server.peer.turns(20)
    assert server.reads > reads


@pytest.mark.parametrize(("version", "stable"), READS)
def test_a_request_that_a_client_repeats_reads_nothing_until_something_changes(
    server: Server, version: int, stable: bool
) -> None:
    """From the third time on, the last answer is sent again."""
    server.commit("g", {0: 5})
    server.commit("h", {0: 6})

    def seen() -> tuple[int, int]:
        """The offset, and how many reads that took."""
        before = server.reads
        [(_, offsets)] = told(server.ask(version, {"g": [0]}, stable=stable), version)
        return offsets[0][0], server.reads - before

    assert [seen() for _ in range(4)] == [(5, 1), (5, 1), (5, 0), (5, 0)]
    server.commit("h", {0: 7})
    assert seen() == (5, 0)
    server.commit("g", {0: 8})
    assert [seen() for _ in range(4)] == [(8, 1), (8, 0), (8, 0), (8, 0)]
    server.context.state = ShardState.CLOSED
    assert seen() == (8, 1)


def test_a_topic_that_is_deleted_has_no_offsets_for_a_client_that_repeats_its_request(server: Server) -> None:
    """By id. Its offsets follow it a little later."""
    server.commit("g", {0: 5})
    known = [told(server.ask(10, {"g": [0]}), 10) for _ in range(4)]
    del server.topics["orders"]

    gone = told(server.ask(10, {"g": [0]}), 10)

    assert known == [[(0, {0: (5, 0)})]] * 4
    assert gone == [(0, {0: (-1, ErrorCode.UNKNOWN_TOPIC_ID)})]
    server.topics["orders"] = ORDERS
    assert told(server.ask(10, {"g": [0]}), 10) == known[0]


def test_a_stable_fetch_does_not_wait_for_what_other_groups_write(server: Server) -> None:
    """It waits for commits of its own group that are not durable."""
    server.commit("g", {0: 5})
    server.log.is_holding = server.is_slow = True
    server.commit("h", {0: 6})

    assert told(server.ask(7, {"g": [0]}, stable=True), 7) == [(0, {0: (5, 0)})]
    server.begin(7, {"h": [0]}, stable=True)
    assert server.peer.is_waiting
    assert server.written == [True]


def test_an_offset_with_metadata_is_read_the_general_way(server: Server) -> None:
    """And so are those that it is asked for with."""
    partitions = [OffsetCommitRequestPartition(0, 5), OffsetCommitRequestPartition(1, 6, 2, "note")]
    asked = OffsetCommitRequestTopic("orders", ORDERS.topic_id, partitions)
    server.log.run(GroupShard.commit_offsets, OffsetCommitRequest("g", topics=[asked]), version=9)

    [topic] = server.ask(9, {"g": [1, 0, 2]}).groups[0].topics

    assert topic.partitions == [
        OffsetFetchResponsePartitions(1, 6, 2, "note"),
        OffsetFetchResponsePartitions(0, 5),
        OffsetFetchResponsePartitions(2, -1),
    ]
