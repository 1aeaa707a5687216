"""OffsetCommit before the group's shard: partitions that do not exist are refused there, and never reach the shard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.offset_commit import COMMIT_PLAIN, OFFSET_COMMIT_API
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from protocol.plain_commits import PlainCommit
from tests.support.api_peer import ApiPeer
from tests.support.read_by_name import ReadByName

pytestmark = pytest.mark.interpreted

FIRST_BY_ID = 10
COUNT = 3
ORDERS = Topic("orders", b"i" * 16, COUNT)
# Decoded, plain with names, and plain with ids.
VERSIONS = (2, 5, 6, 9, 10)
Errors = dict[tuple[str, int], ErrorCode]


class Server:
    """It has the topic ``orders``. The shard accepts every partition that reaches it, or fails with ``error``."""

    def __init__(self) -> None:
        self.topics = {"orders": ORDERS}
        self.reached: list[list[tuple[str, int]]] = []
        """The topics and partitions of each operation of the shard."""
        self.is_plain: list[bool] = []
        self.error: ErrorCode | None = None
        self.is_current = True
        self.partitions = 50
        # The node's catalog, its image of topics, and its runtime of groups.
        self.catalog, self.image, self.groups = ReadByName(self), self, self
        self.peer = ApiPeer(OFFSET_COMMIT_API, self)

    def topic(self, name: str) -> Topic | None:
        return self.topics.get(name)

    def are_present(self, topics: list[Topic]) -> bool:
        return all(self.topics.get(topic.name) is topic for topic in topics)

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        return next((topic for topic in self.topics.values() if topic.topic_id == topic_id), None)

    def check_current(self) -> None:
        if not self.is_current:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

    def partition_of(self, group_id: str) -> int:
        return 0

    def write(
        self,
        partition: int,
        operation: WriteOperation[Any, Any, Any],
        context: RequestContext,
        request: OffsetCommitRequest | PlainCommit[Any],
        reply: Reply[Any],
    ) -> None:
        """As the runtime of groups."""
        self.is_plain.append(operation is COMMIT_PLAIN)
        decoded = request.spelled_out() if isinstance(request, PlainCommit) else request
        for topic in decoded.topics:
            topic.name = topic.name or "orders"
        self.reached.append([(topic.name, each.partition_index) for topic in decoded.topics for each in topic.partitions])
        if self.error is not None:
            reply.fail(self.error)
        elif isinstance(request, PlainCommit):
            reply.complete(request.shape.answer)
        else:
            reply.complete(
                OffsetCommitResponse(
                    topics=[
                        OffsetCommitResponseTopic(
                            topic.name,
                            topic.topic_id,
                            [OffsetCommitResponsePartition(each.partition_index) for each in topic.partitions],
                        )
                        for topic in request.topics
                    ]
                )
            )

    def commit(self, offsets: Mapping[Topic, list[int]], version: int) -> Errors:
        """Commit to partitions of topics as a client. Return the error of each: they are answered once."""
        topics = [
            OffsetCommitRequestTopic(
                "" if version >= FIRST_BY_ID else topic.name,
                topic.topic_id if version >= FIRST_BY_ID else bytes(16),
                [OffsetCommitRequestPartition(index, 5) for index in indexes],
            )
            for topic, indexes in offsets.items()
        ]
        request = OffsetCommitRequest("group", -1, "", topics=topics)
        answer = self.peer.ask(request, version)
        assert isinstance(answer, OffsetCommitResponse)
        names = {topic.topic_id: topic.name for topic in offsets}
        errors = [
            ((topic.name or names[topic.topic_id], each.partition_index), ErrorCode(each.error_code))
            for topic in answer.topics
            for each in topic.partitions
        ]
        assert len(errors) == len(dict(errors))
        return dict(errors)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.mark.parametrize("version", VERSIONS)
def test_all_partitions_of_a_topic_take_commits(server: Server, version: int) -> None:
    """From the first to the last, and from version 6 on without an object per partition."""
    assert server.commit({ORDERS: [0, COUNT - 1]}, version) == {("orders", 0): 0, ("orders", COUNT - 1): 0}

    assert server.reached == [[("orders", 0), ("orders", COUNT - 1)]]
    assert server.is_plain == [version >= 6]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("index", [COUNT, COUNT + 1, 2**31 - 1, -1, -(2**31)])
def test_a_partition_that_does_not_exist_is_refused_alone(server: Server, version: int, index: int) -> None:
    """Its neighbours are committed, and the shard does not hear of it."""
    errors = server.commit({ORDERS: [1, index, 2]}, version)

    assert errors == {("orders", 1): 0, ("orders", index): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ("orders", 2): 0}
    assert server.reached == [[("orders", 1), ("orders", 2)]]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_commit_to_nothing_that_exists_does_not_reach_the_shard(server: Server, version: int) -> None:
    assert server.commit({ORDERS: [COUNT, -1]}, version) == dict.fromkeys(
        [("orders", COUNT), ("orders", -1)], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    assert server.reached == []


@pytest.mark.parametrize("version", VERSIONS)
def test_an_unknown_topic_is_refused_alone(server: Server, version: int) -> None:
    """With the error of its name or of its id."""
    error = ErrorCode.UNKNOWN_TOPIC_ID if version >= FIRST_BY_ID else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    unknown = Topic("unknown", b"u" * 16, 1)

    assert server.commit({unknown: [0], ORDERS: [0]}, version) == {("unknown", 0): error, ("orders", 0): 0}
    assert server.reached == [[("orders", 0)]]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_existed_at_the_last_commit_is_looked_up_again(server: Server, version: int) -> None:
    """A topic that was deleted and created again may have fewer partitions, and its id is a different one."""
    server.commit({ORDERS: [COUNT - 1]}, version)
    again = Topic("orders", b"j" * 16, COUNT - 1)
    server.topics["orders"] = again

    assert server.commit({again: [COUNT - 1]}, version) == {("orders", COUNT - 1): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert len(server.reached) == 1
    stale = ErrorCode.UNKNOWN_TOPIC_ID if version >= FIRST_BY_ID else ErrorCode.NONE
    assert server.commit({ORDERS: [0]}, version) == {("orders", 0): stale}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_loop_that_may_not_know_all_topics_denies_none(server: Server, version: int) -> None:
    """The client asks again."""
    server.is_current = False

    answer = server.commit({Topic("unknown", b"u" * 16, 1): [0], ORDERS: [0]}, version)

    assert set(answer.values()) == {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
    assert server.reached == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("index", [2, COUNT])
def test_an_error_of_the_shard_is_that_of_the_partitions_that_reached_it(server: Server, version: int, index: int) -> None:
    """Others keep their own."""
    server.error = ErrorCode.NOT_COORDINATOR

    errors = server.commit({ORDERS: [1, index]}, version)

    refused = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if index == COUNT else ErrorCode.NOT_COORDINATOR
    assert errors == {("orders", 1): ErrorCode.NOT_COORDINATOR, ("orders", index): refused}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("known", [0, 500])
def test_a_large_commit_is_answered_like_a_small_one(server: Server, version: int, known: int) -> None:
    """In steps. Of topics and partitions that do not exist, each is refused, and the others are committed."""
    topics = {Topic(f"topic-{number}", number.to_bytes(16), 2): [0, 1, 2] for number in range(1000)}
    server.topics = {topic.name: topic for topic in list(topics)[:known]}

    errors = server.commit(topics, version)

    unknown = ErrorCode.UNKNOWN_TOPIC_ID if version >= FIRST_BY_ID else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    expected = {
        (topic.name, index): unknown
        if number >= known
        else (ErrorCode.NONE if index < 2 else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        for number, topic in enumerate(topics)
        for index in range(3)
    }
    assert errors == expected
    assert [len(each) for each in server.reached] == ([2 * known] if known else [])


@pytest.mark.parametrize(("known", "is_expensive"), [(100, False), (0, True)])
def test_topics_that_are_refused_cost_their_connection_time(server: Server, known: int, is_expensive: bool) -> None:
    """Its next request is a step among those of others."""
    topics = {Topic(f"topic-{number}", number.to_bytes(16), 1): [0] for number in range(100)}
    server.topics = {topic.name: topic for topic in list(topics)[:known]}
    server.commit(topics, 9)

    server.peer.arrive(OffsetCommitRequest("group", -1, "", topics=[OffsetCommitRequestTopic("topic-0")]), 9)

    assert server.peer.is_waiting == is_expensive


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_without_partitions_is_not_answered_beside_unknown_ones(server: Server, version: int) -> None:
    """As in Kafka."""
    empty, unknown = Topic("empty", b"e" * 16, 1), Topic("unknown", b"u" * 16, 1)
    server.topics["empty"] = empty
    topics = [
        OffsetCommitRequestTopic(
            "" if version >= FIRST_BY_ID else topic.name,
            topic.topic_id if version >= FIRST_BY_ID else bytes(16),
            [OffsetCommitRequestPartition(index, 5) for index in indexes],
        )
        for topic, indexes in ((ORDERS, [0]), (unknown, [0]), (empty, []))
    ]

    answer = server.peer.ask(OffsetCommitRequest("group", -1, "", topics=topics), version)

    assert isinstance(answer, OffsetCommitResponse)
    assert [len(topic.partitions) for topic in answer.topics] == [1, 1]
