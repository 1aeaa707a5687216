"""ListGroups: the groups of all shards of a loop, in one list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.gather import Refused
from coordinator_server.server.apis.groups import GROUPS_PER_STEP, LIST_GROUPS_API
from protocol.error_codes import ErrorCode
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.api_peer import ApiPeer
from tests.support.group import GroupLog

pytestmark = pytest.mark.interpreted

MANY = GROUPS_PER_STEP + 1


class Site:
    """A node with three shards. One of them refuses with ``error``."""

    def __init__(self) -> None:
        self.groups = self
        self.partitions = 3
        self.logs = [GroupLog() for _ in range(self.partitions)]
        self.error: ErrorCode | None = None

    def read(self, partition: int, operation: Callable[..., Any], *arguments: Any) -> Any:
        """As the runtime of groups."""
        if self.error is not None and partition == 1:
            raise CoordinatorError(self.error)
        return operation(self.logs[partition].shard, self.logs[partition].committed_offset, *arguments)

    def read_all(self, name: str, operation: Callable[..., Any], *arguments: Any) -> list[Any]:
        """As the runtime of groups."""
        answers: list[Any] = []
        for partition in range(self.partitions):
            try:
                answers.append(self.read(partition, operation, *arguments))
            except CoordinatorError as refused:
                answers.append(Refused(refused.error))
        return answers

    def commit(self, partition: int, group: str) -> None:
        topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])]
        self.logs[partition].run(GroupShard.commit_offsets, OffsetCommitRequest(group, topics=topics), version=9)

    def ask(self, states: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> ListGroupsResponse:
        answer = ApiPeer(LIST_GROUPS_API, self).ask(ListGroupsRequest([*states], [*types]), 5)
        assert isinstance(answer, ListGroupsResponse)
        return answer


def site_with(count: int) -> Site:
    """With so many groups in the first shard, and one in each of the others."""
    site = Site()
    for number in range(count):
        site.commit(0, f"g{number}")
    for partition in (1, 2):
        site.commit(partition, f"of-{partition}")
    return site


@pytest.mark.parametrize("count", [1, MANY])
def test_the_groups_of_all_shards_are_listed(count: int) -> None:
    """At once or in steps, and all that a filter asks for."""
    site = site_with(count)
    expected = sorted([*(f"g{number}" for number in range(count)), "of-1", "of-2"])

    answer = site.ask()
    assert sorted(group.group_id for group in answer.groups) == expected
    assert {(group.group_state, group.group_type) for group in answer.groups} == {("Empty", "classic")}
    assert len(site.ask(("empty",), ("classic",)).groups) == count + 2
    assert site.ask(("stable",)).groups == site.ask((), ("share",)).groups == []


@pytest.mark.parametrize("count", [1, MANY])
def test_shards_of_other_loops_are_listed_there(count: int) -> None:
    site = site_with(count)
    site.error = ErrorCode.NOT_COORDINATOR

    answer = site.ask()

    assert (answer.error_code, len(answer.groups)) == (ErrorCode.NONE, count + 1)


@pytest.mark.parametrize("count", [1, MANY])
def test_a_list_that_would_not_be_whole_is_refused(count: int) -> None:
    """A shard is still loading: the client asks again."""
    site = site_with(count)
    site.error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    answer = site.ask()

    assert (answer.error_code, answer.groups) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, [])
