"""The client library and the server for tests, together: what a test of one's own program can show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from coordinator_server.client import Checkpoint, ConnectionSettings, Election, ElectionSettings, GroupSettings, WorkSharing
from coordinator_server.testing import Coordinator, TopicPartition

DAY_S = 86_400


@pytest.fixture
def coordinator() -> Iterator[Coordinator]:
    with Coordinator() as started:
        yield started


@pytest.fixture
def connection(coordinator: Coordinator) -> ConnectionSettings:
    return ConnectionSettings(coordinator.bootstrap_servers, client_id="worker", retry_backoff_max_s=0.2)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


async def test_each_fault_ends_a_term_and_the_next_token_is_higher(
    coordinator: Coordinator, connection: ConnectionSettings
) -> None:
    """A member that is fenced; a session that expires; a week in which the offset of the token expires, too."""
    tokens = []
    faults: list[Callable[[], object]] = [
        lambda: coordinator.fence(coordinator.group("leader").members[0]),
        lambda: coordinator.advance(31),
        lambda: coordinator.advance(8 * DAY_S),
    ]
    settings = ElectionSettings("leader", session_timeout_s=30, heartbeat_interval_s=0.05)
    async with asyncio.timeout(60), Election(connection, settings) as election:
        async for term in election:
            tokens.append(term.token)
            assert coordinator.committed("leader")[TopicPartition("coordination", 0)] == term.token
            await term.save(f"of {term.token}")
            if not faults:
                break
            async with term:
                faults.pop(0)()
                if not faults:
                    assert coordinator.committed("leader") == {}
                await asyncio.sleep(60)
                raise AssertionError("the body was not cancelled")

    assert len(tokens) == 4
    assert tokens == sorted(set(tokens))


async def test_work_goes_on_through_faults(coordinator: Coordinator, connection: ConnectionSettings) -> None:
    """Errors that a retry cures, broken connections, a rebalance and a restart take nothing away, and lose no checkpoint."""
    settings = GroupSettings("work", session_timeout_s=30, heartbeat_interval_s=0.05)
    async with WorkSharing(connection, settings, ["a", "b"]) as work:
        await until(lambda: work.owned == {"a", "b"})
        faults: list[Callable[[], object]] = [
            lambda: coordinator.fail_next("OffsetCommit", "NOT_COORDINATOR"),
            lambda: coordinator.fail_next("Heartbeat", "COORDINATOR_NOT_AVAILABLE", times=3),
            lambda: coordinator.disconnect("worker"),
            lambda: coordinator.rebalance("work"),
            lambda: coordinator.delay("OffsetCommit", 0.05),
            coordinator.restart,
        ]
        for number, fault in enumerate(faults):
            fault()
            await work.checkpoint("a", number, "text")
            assert coordinator.committed("work")[TopicPartition("work-checkpoints", 0)] == number
            assert work.owned == {"a", "b"}

        assert work.checkpoint_of("a") == Checkpoint(len(faults) - 1, "text")


async def test_what_is_lost_is_assigned_again(coordinator: Coordinator, connection: ConnectionSettings) -> None:
    """With its checkpoint."""
    settings = GroupSettings("work", group_instance_id="one", session_timeout_s=30, heartbeat_interval_s=0.05)
    async with WorkSharing(connection, settings, ["a"]) as work:
        shares = work.__aiter__()
        async with asyncio.timeout(30):
            assert (await anext(shares)).assigned == {"a": None}
            await work.checkpoint("a", 7)
            coordinator.advance(31)
            again = await anext(shares)
            while not again.owned:
                again = await anext(shares)

        assert again.assigned == {"a": Checkpoint(7)}
