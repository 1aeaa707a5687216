"""Items and their owners beside a coordinator that answers as it is told, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from coordinator_server.client import Checkpoint, InvalidSettings, MembershipLost, Refused, Share, WorkSharing
from coordinator_server.client.consumer.subscription import decode_subscription
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from tests.support.recording_coordinator import GROUP, SETTINGS
from tests.support.scripted_coordinator import ScriptedCoordinator, committed, heartbeat
from tests.support.virtual_time import run_virtual

Shares = list[Share]
Body = Callable[[ScriptedCoordinator, WorkSharing, Shares], Coroutine[Any, Any, None]]


def play(body: Body, *, cooperative: bool = True) -> None:
    """Run a test with the only member of a group, and the shares that it is told of."""

    async def listen(work: WorkSharing, shares: Shares) -> None:
        async for share in work:
            shares.append(share)

    async def main() -> None:
        server, shares = ScriptedCoordinator(), Shares()
        server.topics = {"g-checkpoints": 4}
        async with WorkSharing(SETTINGS, GROUP, ["a", "b"], cooperative=cooperative, environment=server.environment) as work:
            listening = asyncio.create_task(listen(work, shares))
            await asyncio.sleep(1)
            assert shares == [Share(frozenset(), {"a": None, "b": None}, frozenset("ab"))]
            shares.clear()
            await body(server, work, shares)
        await listening

    run_virtual(main())


def kept(**checkpoints: int) -> OffsetFetchResponse:
    """Answer a fetch: the checkpoints of these items, in slots by their order."""
    partitions = [
        OffsetFetchResponsePartitions(slot, offset, metadata=f'["{item}", "text"]')
        for slot, (item, offset) in enumerate(checkpoints.items())
    ]
    topics = [OffsetFetchResponseTopics("g-checkpoints", partitions=partitions)]
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", topics=topics)])


def claims(server: ScriptedCoordinator) -> list[tuple[int, list[str]]]:
    """Return the generation and the items that each join claimed."""
    read = [decode_subscription(each.protocols[0].metadata) for each in server.asked(JoinGroupRequest)]
    return [(each.generation_id, [item for item, _ in each.owned]) for each in read]


def test_an_assignment_is_reported_once() -> None:
    """What is gone, what is new with its checkpoint, and everything that is owned."""

    async def body(server: ScriptedCoordinator, work: WorkSharing, shares: Shares) -> None:
        server.script[OffsetFetchRequest] += [kept(a=3, b=4, c=7)] * 2
        work.update(["b", "c"])
        await asyncio.sleep(1)

        told = [(sorted(each.revoked), dict(each.assigned), sorted(each.owned)) for each in shares]
        assert told[-1][1:] == ({"c": Checkpoint(7, "text")}, ["b", "c"])
        assert [item for revoked, *_ in told for item in revoked] == ["a"]

    play(body)


@pytest.mark.parametrize("cooperative", [True, False])
def test_a_member_claims_what_it_has_or_had(cooperative: bool) -> None:
    """An eager member gives everything up before it joins, and gets it again."""

    async def body(server: ScriptedCoordinator, work: WorkSharing, shares: Shares) -> None:
        server.script[HeartbeatRequest].append(heartbeat(ErrorCode.REBALANCE_IN_PROGRESS))
        await asyncio.sleep(GROUP.heartbeat_interval_s + 1)

        assert claims(server)[-1] == (1, ["a", "b"])
        assert [each.revoked for each in shares][:1] == ([] if cooperative else [frozenset("ab")])
        assert work.owned == frozenset("ab")

    play(body, cooperative=cooperative)


@pytest.mark.parametrize("cooperative", [True, False])
def test_a_member_that_was_removed_claims_nothing(cooperative: bool) -> None:
    async def body(server: ScriptedCoordinator, work: WorkSharing, shares: Shares) -> None:
        server.script[HeartbeatRequest].append(heartbeat(ErrorCode.UNKNOWN_MEMBER_ID))
        await asyncio.sleep(GROUP.heartbeat_interval_s + 1)

        assert claims(server)[-1] == (-1, [])
        assert shares[0].revoked == frozenset("ab")

    play(body, cooperative=cooperative)


def test_a_checkpoint_waits_for_the_end_of_a_rebalance() -> None:
    """It is an offset that names its item."""

    async def body(server: ScriptedCoordinator, work: WorkSharing, _shares: Shares) -> None:
        refused = [lambda request: committed(request, ErrorCode.REBALANCE_IN_PROGRESS)]
        server.script[OffsetCommitRequest] += refused
        await work.checkpoint("b", 5, "half-way")

        [topic] = server.asked(OffsetCommitRequest)[-1].topics
        [partition] = topic.partitions
        assert (topic.name, partition.partition_index) == ("g-checkpoints", 1)
        assert (partition.committed_offset, partition.committed_metadata) == (5, '["b", "half-way"]')
        assert work.checkpoint_of("b") == Checkpoint(5, "half-way")
        with pytest.raises(MembershipLost):
            await work.checkpoint("c", 1)

    play(body)


def test_more_items_than_slots_are_refused() -> None:
    """Who iterates hears of it."""

    async def main() -> None:
        server = ScriptedCoordinator()
        server.topics = {"g-checkpoints": 4}
        async with WorkSharing(SETTINGS, GROUP, "abcde", environment=server.environment) as work:
            with pytest.raises(Refused, match="5 items are more than the 4 partitions"):
                await anext(aiter(work))

    run_virtual(main())


def test_there_is_room_for_an_item() -> None:
    with pytest.raises(InvalidSettings):
        WorkSharing(SETTINGS, GROUP, ["a"], capacity=0)
