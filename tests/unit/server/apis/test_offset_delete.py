"""OffsetDelete before the group's shard: partitions that do not exist are refused there, and never reach the shard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.offset_delete import OFFSET_DELETE_API
from protocol.error_codes import ErrorCode
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from tests.support.api_peer import ApiPeer

COUNT = 3
OK, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class Site:
    """A node with topics of three partitions. The group's shard deletes what reaches it, or fails with ``error``."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.groups = self.image = self
        self.reached: list[list[tuple[str, int]]] = []
        self.error: ErrorCode | None = None
        self.is_current = True

    def topic(self, name: str) -> Topic | None:
        return Topic(name, bytes(16), COUNT) if name in self.names else None

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
        request: OffsetDeleteRequest,
        reply: Reply[OffsetDeleteResponse],
    ) -> None:
        """As the runtime of groups."""
        self.reached.append([(topic.name, each.partition_index) for topic in request.topics for each in topic.partitions])
        if self.error is not None:
            reply.fail(self.error)
            return
        reply.complete(
            OffsetDeleteResponse(
                topics=[
                    OffsetDeleteResponseTopic(
                        topic.name, [OffsetDeleteResponsePartition(each.partition_index) for each in topic.partitions]
                    )
                    for topic in request.topics
                ]
            )
        )


def delete(site: Site, offsets: Mapping[str, list[int]], group: str = "g") -> tuple[ErrorCode, list[tuple[str, int, int]]]:
    """The error of the whole, and that of each partition."""
    topics = [
        OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(index) for index in indexes])
        for name, indexes in offsets.items()
    ]
    answer = ApiPeer(OFFSET_DELETE_API, site).ask(OffsetDeleteRequest(group, topics), 0)
    assert isinstance(answer, OffsetDeleteResponse)
    told = [(topic.name, each.partition_index, each.error_code) for topic in answer.topics for each in topic.partitions]
    return ErrorCode(answer.error_code), told


@pytest.mark.parametrize("index", [COUNT, 2**31 - 1, -1, -(2**31)])
def test_a_partition_that_does_not_exist_is_refused_alone(index: int) -> None:
    """Refused partitions are told first."""
    site = Site("orders")

    assert delete(site, {"orders": [0, index, COUNT - 1]}) == (
        OK,
        [("orders", index, UNKNOWN), ("orders", 0, OK), ("orders", COUNT - 1, OK)],
    )
    assert site.reached == [[("orders", 0), ("orders", COUNT - 1)]]


def test_an_unknown_topic_is_refused_alone() -> None:
    site = Site("orders")

    assert delete(site, {"unknown": [0, 1], "orders": [1]}) == (
        OK,
        [("unknown", 0, UNKNOWN), ("unknown", 1, UNKNOWN), ("orders", 1, OK)],
    )
    assert site.reached == [[("orders", 1)]]


def test_an_unknown_topic_without_partitions_is_answered() -> None:
    """Before the others, as every refused topic."""
    topics = [OffsetDeleteRequestTopic("orders", [OffsetDeleteRequestPartition(0)]), OffsetDeleteRequestTopic("unknown", [])]

    answer = ApiPeer(OFFSET_DELETE_API, Site("orders")).ask(OffsetDeleteRequest("g", topics), 0)

    assert isinstance(answer, OffsetDeleteResponse)
    assert [topic.name for topic in answer.topics] == ["unknown", "orders"]


def test_the_shard_is_asked_about_the_group_even_if_nothing_is_left() -> None:
    """It says whether there is such a group."""
    site = Site()
    site.error = ErrorCode.GROUP_ID_NOT_FOUND

    assert delete(site, {"unknown": [0]}) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
    assert site.reached == [[]]


def test_an_error_of_the_group_is_that_of_the_whole() -> None:
    site = Site("orders")
    site.error = ErrorCode.NOT_COORDINATOR

    assert delete(site, {"orders": [0, COUNT]}) == (ErrorCode.NOT_COORDINATOR, [])


def test_a_group_has_a_name() -> None:
    site = Site("orders")

    assert delete(site, {"orders": [0]}, "") == (ErrorCode.INVALID_GROUP_ID, [])
    assert site.reached == []


def test_a_loop_that_may_not_know_all_topics_denies_none() -> None:
    """The client asks again."""
    site = Site("orders")
    site.is_current = False

    assert delete(site, {"unknown": [0], "orders": [0]}) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, [])
    assert site.reached == []


def test_a_large_request_is_answered_like_a_small_one() -> None:
    """In steps."""
    names = [f"topic-{number}" for number in range(3000)]
    site = Site(*names[:1500])

    error, told = delete(site, {name: [0, COUNT] for name in names})

    known = set(names[:1500])
    assert error == OK
    assert sorted(told) == sorted(
        (name, index, OK if name in known and index == 0 else UNKNOWN) for name in names for index in (0, COUNT)
    )
    assert site.reached == [[(name, 0) for name in names[:1500]]]
