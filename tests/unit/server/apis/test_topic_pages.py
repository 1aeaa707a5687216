"""DescribeTopicPartitions: pages of topics, of which each begins where the one before ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.server.apis.lists import UNITS_PER_STEP
from coordinator_server.server.apis.topic_pages import DESCRIBE_TOPIC_PARTITIONS_API
from protocol.error_codes import ErrorCode
from protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    TopicRequest,
)
from tests.support.api_peer import ApiPeer
from tests.support.configs import config_with
from tests.support.views import loops_nodes

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
Page = tuple[list[tuple[str | None, int, list[int]]], tuple[str, int] | None]


class Site:
    """A node with topics of so many partitions. Two nodes lead them in turn."""

    def __init__(self, **partitions: int) -> None:
        self.config = config_with(max_request_partition_size_limit=2000)
        self.topics = {name: Topic(name, name.encode().ljust(16, b".")[:16], count) for name, count in partitions.items()}
        self.internal = ("__consumer_offsets",)
        self.nodes = loops_nodes(2)
        self.authorizer = None
        self.image = self
        self.is_current = True

    def topic(self, name: str) -> Topic | None:
        return self.topics.get(name)

    def all_topics(self) -> list[Topic]:
        return list(self.topics.values())

    def check_current(self) -> None:
        if not self.is_current:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def ask(
    site: Site, names: Sequence[str], limit: int = 2000, cursor: tuple[str, int] | None = None
) -> DescribeTopicPartitionsResponse:
    asked = [TopicRequest(name) for name in names]
    request = DescribeTopicPartitionsRequest(asked, limit, None if cursor is None else Cursor(*cursor))
    answer = ApiPeer(DESCRIBE_TOPIC_PARTITIONS_API, site).ask(request, 0)
    assert isinstance(answer, DescribeTopicPartitionsResponse)
    return answer


def page(site: Site, names: Sequence[str], limit: int = 2000, cursor: tuple[str, int] | None = None) -> Page:
    answer = ask(site, names, limit, cursor)
    topics = [(each.name, each.error_code, [one.partition_index for one in each.partitions]) for each in answer.topics]
    following = answer.next_cursor
    return topics, None if following is None else (following.topic_name, following.partition_index)


def test_topics_come_by_name_whatever_the_order_of_the_request() -> None:
    """Each once; all of them if none is named."""
    site = Site(b=2, c=0, a=1)
    expected: Page = ([("a", 0, [0]), ("b", 0, [0, 1]), ("c", 0, [])], None)

    assert page(site, ["c", "a", "b", "a"]) == page(site, []) == expected


def test_a_partition_has_its_leader() -> None:
    """Which is its only replica."""
    [topic] = ask(Site(orders=3), ["orders"]).topics

    assert topic.topic_id == b"orders.........."
    assert [
        (each.leader_id, each.leader_epoch, each.replica_nodes, each.isr_nodes, each.offline_replicas)
        for each in topic.partitions
    ] == [(leader, 0, [leader], [leader], []) for leader in (1, 2, 1)]


def test_internal_topics_are_told_apart() -> None:
    found = ask(Site(__consumer_offsets=1, orders=1), []).topics

    assert [(topic.name, topic.is_internal) for topic in found] == [("__consumer_offsets", True), ("orders", False)]


@pytest.mark.parametrize("limit", range(1, 9))
def test_pages_follow_each_other_without_gap_or_repetition(limit: int) -> None:
    """However many partitions a page has room for; unknown topics take none."""
    site = Site(a=3, b=1, d=4)
    names = ["a", "b", "c", "d"]
    seen: list[tuple[str | None, int]] = []
    unknown = 0
    cursor: tuple[str, int] | None = None
    for _ in range(20):
        topics, cursor = page(site, names, limit, cursor)
        assert sum(len(partitions) for _, _, partitions in topics) <= limit
        seen += [(name, partition) for name, _, partitions in topics for partition in partitions]
        unknown += sum(error == UNKNOWN for _, error, _ in topics)
        if cursor is None:
            break

    assert seen == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("d", 0), ("d", 1), ("d", 2), ("d", 3)]
    assert unknown == 1
    assert cursor is None


def test_a_page_ends_before_a_topic_or_within_it() -> None:
    site = Site(a=2, b=2)

    assert page(site, [], 1) == ([("a", 0, [0])], ("a", 1))
    assert page(site, [], 2) == ([("a", 0, [0, 1])], ("b", 0))
    assert page(site, [], 3) == ([("a", 0, [0, 1]), ("b", 0, [0])], ("b", 1))
    assert page(site, [], 4) == ([("a", 0, [0, 1]), ("b", 0, [0, 1])], None)


@pytest.mark.parametrize(("limit", "own", "most"), [(0, 9, 1), (-5, 9, 1), (5, 3, 3), (3, 5, 3), (2**31 - 1, 4, 4)])
def test_a_page_has_as_much_as_both_sides_allow(limit: int, own: int, most: int) -> None:
    """max.request.partition.size.limit; and one partition at least."""
    site = Site(a=10)
    site.config = config_with(max_request_partition_size_limit=own)

    assert page(site, [], limit) == ([("a", 0, list(range(most)))], ("a", most))


def test_a_topic_that_has_shrunk_behind_the_cursor_has_no_partitions() -> None:
    """It was deleted, and created again."""
    assert page(Site(a=2, b=1), [], 10, ("a", 5)) == ([("a", 0, []), ("b", 0, [0])], None)


@pytest.mark.parametrize(
    ("names", "cursor", "problem"),
    [
        (["a"], ("b", 0), "topic list should contain the cursor topic: b"),
        (["a"], ("a", -1), "there is no partition -1 to go on with"),
    ],
)
def test_a_cursor_that_leads_nowhere_is_refused(names: list[str], cursor: tuple[str, int], problem: str) -> None:
    """Without names it may be at a topic that is gone by now."""
    topics, _ = page(Site(a=1), names, 10, cursor)

    assert [(name, error) for name, error, _ in topics] == [("a", ErrorCode.INVALID_REQUEST)]
    assert page(Site(a=1, c=1), [], 10, ("b", 0)) == ([("c", 0, [0])], None)


@pytest.mark.parametrize(("name", "error"), [("unknown", UNKNOWN), ("not a name", ErrorCode.INVALID_TOPIC_EXCEPTION)])
def test_a_topic_that_is_not_there_has_an_error(name: str, error: ErrorCode) -> None:
    assert page(Site(), [name]) == ([(name, error, [])], None)


def test_a_loop_that_may_not_know_all_topics_denies_none() -> None:
    """But for names that no topic can have."""
    site = Site(a=1)
    site.is_current = False

    assert page(site, ["a", "not a name"])[0] == [("a", 0, [0]), ("not a name", ErrorCode.INVALID_TOPIC_EXCEPTION, [])]
    assert [error for _, error, _ in page(site, ["a", "unknown"])[0]] == [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 2


def test_many_topics_are_described_in_steps_like_few() -> None:
    """Named or not, in a small request or a large one."""
    count = 3000
    assert count > 2 * UNITS_PER_STEP
    names = [f"t{number:06}" for number in range(count)]
    counts: dict[str, Any] = dict.fromkeys(names, 1)
    site = Site(**counts)
    limit = site.config.max_request_partition_size_limit

    first = page(site, [], count)
    assert first == ([(name, 0, [0]) for name in names[:limit]], (names[limit], 0))
    assert page(site, names, count) == first
    assert page(site, [], count, (names[-3], 0)) == ([(name, 0, [0]) for name in names[-3:]], None)


@pytest.mark.parametrize(("count", "is_at_once"), [(UNITS_PER_STEP, True), (UNITS_PER_STEP + 1, False)])
def test_what_takes_longer_than_a_step_is_not_described_at_once(count: int, is_at_once: bool) -> None:
    counts: dict[str, Any] = dict.fromkeys([f"t{number:06}" for number in range(count)], 1)
    peer = ApiPeer(DESCRIBE_TOPIC_PARTITIONS_API, Site(**counts))

    peer.arrive(DescribeTopicPartitionsRequest([], 2000), 0)

    assert peer.is_waiting is not is_at_once
