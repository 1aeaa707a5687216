"""One group of members in several languages: those of ``coordinator_server.client``, librdkafka's,
and Java's with ``--clients java``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack

import pytest

from coordinator_server.client import (
    Assignor,
    CooperativeStickyAssignor,
    GroupConsumer,
    GroupSettings,
    RangeAssignor,
    RoundRobinAssignor,
    TopicPartition,
)
from tests.interop.clients import ConfluentAdmin, MemberOptions
from tests.interop.crew import MemberProcess

PARTITIONS = 12
ASSIGNORS: tuple[Assignor, ...] = (RangeAssignor(), RoundRobinAssignor(), CooperativeStickyAssignor())


class Ours(GroupConsumer):
    """Counts what it was given and gave up."""

    revoked = 0

    def on_revoked(self, partitions: frozenset[TopicPartition]) -> Awaitable[None] | None:
        self.revoked += len(partitions)
        return None

    def on_partitions_lost(self, partitions: frozenset[TopicPartition]) -> Awaitable[None] | None:
        raise AssertionError(f"lost {partitions}")


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda each: each.name)
async def test_members_of_all_languages_share_a_group(
    assignor: Assignor, shared_bootstrap: str, fresh_name: str, processes: ExitStack, request: pytest.FixtureRequest
) -> None:
    """Whoever leads: every partition has one owner, in their groups and in ours, and commits of one are read by the others."""
    await asyncio.to_thread(ConfluentAdmin(shared_bootstrap).create_topic, fresh_name, PARTITIONS)
    with_java = "java" in request.config.getoption("--clients") or request.config.getoption("--clients") == "all"
    others: list[MemberProcess] = []

    def start(client: str) -> None:
        options = MemberOptions(is_cooperative=assignor.is_cooperative, assignor=assignor.name, session_timeout_ms=60_000)
        others.append(MemberProcess(client, shared_bootstrap, fresh_name, fresh_name, options))
        processes.callback(others[-1].clean_up)

    group = GroupSettings(fresh_name, session_timeout_s=60, heartbeat_interval_s=0.1)
    first = Ours(shared_bootstrap, group, [fresh_name], assignors=[assignor])
    second = Ours(shared_bootstrap, group, [fresh_name], assignors=[assignor])
    async with first, asyncio.TaskGroup() as tasks:
        # Ours leads.
        tasks.create_task(first.run())
        await until(lambda: len(first.assignment) == PARTITIONS)
        for client in ["confluent-kafka", *(["java"] if with_java else [])]:
            await asyncio.to_thread(start, client)
        async with second:
            tasks.create_task(second.run())
            await until(lambda: is_shared([first, second], others))
            if assignor.is_cooperative:
                assert first.revoked == PARTITIONS - len(first.assignment)
            mine = next(iter(first.assignment))
            await first.commit({mine: 7})
            assert await asyncio.to_thread(others[0].committed, [mine.partition]) == {mine.partition: 7}
            # A different one leads.
            await first.close()
            await until(lambda: is_shared([second], others))


def is_shared(ours: list[Ours], others: list[MemberProcess]) -> bool:
    """Whether every partition has one owner, and nobody is without."""
    assert all(each.is_alive() for each in others), [each.errors() for each in others]
    owned = [sorted(each.partition for each in member.assignment) for member in ours] + [each.owned for each in others]
    return all(owned) and sorted(partition for each in owned for partition in each) == list(range(PARTITIONS))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what is waited for is in other processes
            await asyncio.sleep(0.02)
