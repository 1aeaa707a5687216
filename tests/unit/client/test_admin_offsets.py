"""The committed offsets of groups, as servers of any version are asked for them."""

from __future__ import annotations

import pytest

from coordinator_server.client import ConnectionSettings
from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.admin.offsets import committed_offsets
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from tests.support.scripted_coordinator import ScriptedCoordinator
from tests.support.virtual_time import run_virtual


@pytest.mark.parametrize("versions", [{}, {"FindCoordinator": 3, "OffsetFetch": 7}])
def test_offsets_are_asked_of_servers_that_take_many_groups_and_of_those_that_take_one(versions: dict[str, int]) -> None:
    """Kafka before 3.0 takes one, in FindCoordinator and in OffsetFetch."""
    offsets = {"a": 7, "b": 9}

    def of(group_id: str) -> OffsetFetchResponseGroup:
        return OffsetFetchResponseGroup(
            group_id, [OffsetFetchResponseTopics("t", partitions=[OffsetFetchResponsePartitions(0, offsets[group_id])])]
        )

    def answer(request: OffsetFetchRequest) -> OffsetFetchResponse:
        if request.groups:
            return OffsetFetchResponse(groups=[of(each.group_id) for each in request.groups])
        partitions = [OffsetFetchResponsePartition(0, offsets[request.group_id])]
        return OffsetFetchResponse(topics=[OffsetFetchResponseTopic("t", partitions)])

    async def play() -> None:
        server = ScriptedCoordinator()
        server.limit(**versions)
        server.script[OffsetFetchRequest] += [answer] * 2
        async with Cluster(ConnectionSettings("coordinator:9092"), server.environment) as cluster:
            found = await committed_offsets(cluster, ["a", "b", "a"])
        assert {group: {each: made.offset for each, made in of.items()} for group, of in found.items()} == {
            group: {("t", 0): offset} for group, offset in offsets.items()
        }
        assert len(server.asked(OffsetFetchRequest)) == (2 if versions else 1)

    run_virtual(play())
