"""The count of groups: in steps, seldom, and of what is loaded."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from coordinator_server.config import LiveConfig
from coordinator_server.group.shard import GroupShard
from coordinator_server.server.metrics.census import AT_LEAST_MS, TIMES_ITS_DURATION, Census
from tests.support.group_runtime import GroupRuntime

GROUPS = {("classic", "Empty"): 450}


class NoTransactions:
    """A runtime without shards."""

    progress = ()


@pytest.fixture
def groups() -> GroupRuntime:
    runtime = GroupRuntime()
    for number in range(450):
        runtime.commit_alone(f"g-{number}", {"orders": {0: number}})
    runtime.finish()
    return runtime


def census(groups: GroupRuntime) -> Census:
    return Census(LiveConfig(), groups.runtime, cast(Any, NoTransactions()), groups.clock)


async def test_all_groups_are_counted_and_others_are_served_meanwhile(groups: GroupRuntime) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    counts = await census(groups).counts()
    task.cancel()

    assert counts.groups == GROUPS
    assert (counts.members, counts.oldest_commits) == ({"classic": 0}, {})
    assert turns >= 3


async def test_the_last_count_is_given_until_the_next_one_is_due(groups: GroupRuntime) -> None:
    counting = census(groups)
    await counting.counts()
    groups.commit_alone("g-one-more", {"orders": {0: 1}})
    groups.finish()

    groups.clock.advance(AT_LEAST_MS - 1)
    assert (await counting.counts()).groups == GROUPS
    groups.clock.advance(1)
    # This one begins the next count, and does not wait for it.
    assert (await counting.counts()).groups == GROUPS
    assert counting._task is not None
    await counting._task

    assert (await counting.counts()).groups == {("classic", "Empty"): 451}


async def test_the_oldest_commits_are_found(groups: GroupRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all groups with members, and no more are kept than are shown."""
    monkeypatch.setattr(GroupShard, "generation", lambda *_: (1, 1))
    monkeypatch.setattr(GroupShard, "newest_commit", lambda _, __, group_id: int(group_id.removeprefix("g-")) * 7 % 450)
    counting = Census(LiveConfig(metrics_commit_age_groups_max=3), groups.runtime, cast(Any, NoTransactions()), groups.clock)

    counts = await counting.counts()

    assert counts.members == {"classic": 450}
    assert sorted(counts.oldest_commits.values()) == [0, 1, 2]
    assert all(int(group_id.removeprefix("g-")) * 7 % 450 == at_ms for group_id, at_ms in counts.oldest_commits.items())


async def test_a_count_that_takes_long_is_repeated_later(groups: GroupRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = census(groups)
    steps = asyncio.sleep

    async def sleep(seconds: float) -> None:
        groups.clock.advance(1000)
        await steps(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    await counting.counts()
    monkeypatch.undo()
    due_ms = counting._due_ms - groups.clock.now_ms()

    assert due_ms == 3000 * TIMES_ITS_DURATION > AT_LEAST_MS
