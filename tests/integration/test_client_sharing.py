"""``WorkSharing`` and ``Membership`` of the client library, and the daemon."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from coordinator_server.client import Checkpoint, GroupSettings, Membership, MembershipLost, Present, Share, WorkSharing

Address = tuple[str, int]
ITEMS = [f"item {i}" for i in range(7)]


class Noting(WorkSharing):
    """Writes a last checkpoint of what is revoked."""

    async def on_revoked(self, items: frozenset[str]) -> None:
        for item in items:
            last = self.checkpoint_of(item)
            await self.checkpoint(item, (last.value if last else 0) + 100, "revoked")


def sharing(address: Address, group: str, items: list[str] = ITEMS, *, cooperative: bool = True) -> Noting:
    settings = GroupSettings(group, session_timeout_s=20, heartbeat_interval_s=0.05)
    return Noting(f"{address[0]}:{address[1]}", settings, items, cooperative=cooperative)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


async def next_share(work: WorkSharing) -> Share:
    async with asyncio.timeout(60):
        async for share in work:
            return share
    raise AssertionError("it was closed")


async def test_items_are_divided_and_go_on_where_they_stopped(address: Address, fresh_name: str) -> None:
    """A newcomer gets a fair share, with the checkpoints of their last owner; nothing else moves."""
    async with sharing(address, fresh_name) as first:
        share = await next_share(first)
        assert share.assigned == dict.fromkeys(ITEMS)
        for i, item in enumerate(ITEMS):
            await first.checkpoint(item, i, "début")
        assert first.checkpoint_of("item 3") == Checkpoint(3, "début")
        async with sharing(address, fresh_name) as second:
            await until(lambda: len(second.owned) == 3)
            await until(lambda: len(first.owned) == 4)

            assert first.owned | second.owned == set(ITEMS)
            for item in second.owned:
                assert second.checkpoint_of(item) == Checkpoint(ITEMS.index(item) + 100, "revoked")
            moved = next(iter(second.owned))
            with pytest.raises(MembershipLost):
                await first.checkpoint(moved, 5)
            await second.checkpoint(moved, 1000)
        await until(lambda: len(first.owned) == len(ITEMS))
        assert first.checkpoint_of(moved) == Checkpoint(1100, "revoked")


async def test_an_eager_member_gives_up_everything_and_gets_it_again(address: Address, fresh_name: str) -> None:
    """In one rebalance: items that do not move go to the member that had them."""
    async with sharing(address, fresh_name, cooperative=False) as first:
        await until(lambda: len(first.owned) == len(ITEMS))
        generation = first._member.generation.generation_id
        async with sharing(address, fresh_name, cooperative=False) as second:
            await until(lambda: len(second.owned) == 3 and len(first.owned) == 4)

            assert first._member.generation.generation_id == generation + 1
            assert first.owned | second.owned == set(ITEMS)
            # Both had to finish what they had.
            assert {first.checkpoint_of(item) for item in first.owned} == {Checkpoint(100, "revoked")}
            kept = first.owned
            async with sharing(address, fresh_name, cooperative=False) as third:
                await until(lambda: sorted(map(len, (first.owned, second.owned, third.owned))) == [2, 2, 3])
                assert first.owned <= kept


async def test_changes_are_told_in_order(address: Address, fresh_name: str) -> None:
    """What is owned is always what was assigned before and not revoked since."""
    told: list[Share] = []

    async def listen(work: WorkSharing) -> None:
        owned: set[str] = set()
        async for share in work:
            told.append(share)
            assert share.revoked <= owned
            owned -= share.revoked
            assert not owned & share.assigned.keys()
            owned |= share.assigned.keys()
            assert owned == share.owned

    async with sharing(address, fresh_name) as first:
        listening = asyncio.create_task(listen(first))
        await until(lambda: len(first.owned) == len(ITEMS))
        async with sharing(address, fresh_name) as second:
            await until(lambda: len(second.owned) == 3)
        await until(lambda: len(first.owned) == len(ITEMS))
    await listening

    assert told[-1].owned == frozenset()


async def test_items_may_change_and_come_back(address: Address, fresh_name: str) -> None:
    async with sharing(address, fresh_name, ["a", "b"]) as work:
        await until(lambda: work.owned == {"a", "b"})
        await work.checkpoint("a", 1, "kept")
        work.update(["b", "c"])
        await until(lambda: work.owned == {"b", "c"})
        work.update(["a", "b", "c"])
        await until(lambda: work.owned == {"a", "b", "c"})

        assert work.checkpoint_of("a") in {Checkpoint(1, "kept"), Checkpoint(101, "revoked")}
        assert work.checkpoint_of("c") is None


async def test_members_know_each_other(address: Address, fresh_name: str) -> None:
    """Each is told when one comes, says something else, or leaves."""
    bootstrap = f"{address[0]}:{address[1]}"

    def group(instance: str | None = None) -> GroupSettings:
        return GroupSettings(fresh_name, group_instance_id=instance, session_timeout_s=2, heartbeat_interval_s=0.05)

    def said(members: Membership) -> list[str]:
        return sorted(each.metadata for each in members.members.values())

    rosters = []

    async def listen(members: Membership) -> None:
        rosters.extend([sorted(each.metadata for each in roster.values()) async for roster in members])

    async with Membership(bootstrap, group(), "one") as first:
        listening = asyncio.create_task(listen(first))
        await until(lambda: said(first) == ["one"])
        async with Membership(bootstrap, group("host"), "two") as second:
            await until(lambda: said(first) == said(second) == ["one", "two"])
            assert second.members[second.member_id] == Present("two", "host")
            second.update("three")
            await until(lambda: said(first) == said(second) == ["one", "three"])
        async with Membership(bootstrap, group(), "four") as third:
            # The static member did not leave: it is here until its session ends.
            await until(lambda: said(first) == said(third) == ["four", "one"])
        await until(lambda: said(first) == ["one"])
    await listening

    assert rosters[0] == ["one"]
    assert ["one", "three"] in rosters
