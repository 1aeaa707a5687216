"""``coordinator_server.client.Coordinator`` and the daemon: groups of several members, restarts on both sides."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coordinator_server.client import (
    Committed,
    ConnectionSettings,
    FencedInstance,
    GroupSettings,
    MembershipLost,
    TopicPartition,
)
from tests.support.recording_coordinator import RecordingCoordinator
from tests.support.server import ROOT, Server

Address = tuple[str, int]
TOPIC = "client-positions"


def new_member(address: Address, group_id: str, instance: str | None = None) -> RecordingCoordinator:
    settings = ConnectionSettings(f"{address[0]}:{address[1]}", client_id=f"member of {group_id}")
    group = GroupSettings(group_id, group_instance_id=instance, session_timeout_s=20, heartbeat_interval_s=0.05)
    return RecordingCoordinator(settings, group)


@asynccontextmanager
async def running(*members: RecordingCoordinator) -> AsyncIterator[None]:
    """Members whose owners do what they should, until they are closed."""
    tasks = [asyncio.create_task(member.run()) for member in members]
    try:
        yield
    finally:
        for member in members:
            await member.close()
        await asyncio.wait(tasks)
        for task in tasks:
            task.result()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


def in_one_generation(*members: RecordingCoordinator) -> bool:
    """Whether they are all the members of one stable generation that has ended no rebalance since."""
    stable = {each.generation_if_stable.generation_id for each in members if each.generation_if_stable is not None}
    return len(stable) == 1 and all(each.generation_if_stable is not None for each in members)


async def test_members_come_and_go(address: Address, fresh_name: str) -> None:
    """Each gets what the leader gave it, in each generation, and its callbacks in order."""
    members = [new_member(address, fresh_name) for _ in range(4)]
    async with running(*members):
        await until(lambda: in_one_generation(*members) and sum(each.is_leader for each in members) == 1)
        first = members[0].generation.generation_id
        await members[3].close()
        await until(lambda: in_one_generation(*members[:3]) and members[0].generation.generation_id > first)

    for member in members:
        assigned = [event for event in member.events if event[0] == "on_join_complete"]
        assert all(event[4] == f"for {event[2]}".encode() for event in assigned)
        generations = [event[1] for event in assigned]
        assert generations == sorted(set(generations))  # type: ignore[type-var]
        steps = [event[0] for event in member.events if event[0] in {"on_join_prepare", "on_join_complete"}]
        # The last rebalance may have been ended by ``close``.
        assert steps[: len(steps) // 2 * 2] == ["on_join_prepare", "on_join_complete"] * (len(steps) // 2)


async def test_a_static_member_comes_back_without_a_rebalance(address: Address, fresh_name: str) -> None:
    leader, follower = new_member(address, fresh_name, "a"), new_member(address, fresh_name, "b")
    async with running(leader, follower):
        await until(lambda: in_one_generation(leader, follower))
        generation = follower.generation.generation_id
        again = new_member(address, fresh_name, "b" if leader.is_leader else "a")
        await (follower if leader.is_leader else leader).close()
        async with running(again):
            await until(lambda: again.generation_if_stable is not None)

            assert again.generation.generation_id == generation
            stays = leader if leader.is_leader else follower
            assert stays.generation.generation_id == generation


async def test_the_older_of_two_instances_is_fenced(address: Address, fresh_name: str) -> None:
    """It has lost what it had, and its next call says why."""
    old, new = new_member(address, fresh_name, "a"), new_member(address, fresh_name, "a")
    await old.ensure_active_group()
    async with running(new):
        await until(lambda: new.generation_if_stable is not None)
        async with asyncio.timeout(30):
            await old.wait_for_rejoin()
        with pytest.raises(FencedInstance):
            await old.ensure_active_group()

        assert [event[0] for event in old.events][-1] == "on_lost"
        await old.close()


async def test_offsets_are_kept_and_fenced(address: Address, fresh_name: str) -> None:
    """A member that was removed writes nothing any more."""
    await create_topic(address, TOPIC)
    first, second = TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)
    async with new_member(address, fresh_name) as member:
        await member.ensure_active_group()
        await member.commit({first: 7, second: Committed(8, "own")}, "text")

        assert await member.committed() == {first: Committed(7, "text"), second: Committed(8, "own")}
        assert await member.committed([second, TopicPartition("client-other", 0)]) == {second: Committed(8, "own")}

    async with new_member(address, fresh_name, "a") as old, new_member(address, fresh_name, "a") as new:
        await old.ensure_active_group()
        await new.ensure_active_group()
        with pytest.raises((FencedInstance, MembershipLost)):
            await old.commit({first: 9})

        assert (await new.committed([first]))[first].offset == 7


async def test_topics_are_created_once(address: Address, fresh_name: str) -> None:
    """Who comes second takes the topic as it is. Asking creates none."""
    async with new_member(address, fresh_name) as member:
        assert await member.partition_counts([fresh_name]) == {}
        assert await member.partition_counts([fresh_name]) == {}
        assert await member.ensure_topic(fresh_name, 3) == 3
        assert await member.ensure_topic(fresh_name, 5) == 3
        assert await member.partition_counts([fresh_name, f"not {fresh_name}"]) == {fresh_name: 3}


async def test_a_server_that_dies_loses_no_member(tmp_path: Path) -> None:
    """After ``kill -9`` the members go on in their generation, over new connections."""
    with Server(tmp_path) as server:
        member = new_member(server.address, "g")
        async with running(member):
            await until(lambda: member.generation_if_stable is not None)
            generation = member.generation
            server.kill()
            await asyncio.to_thread(server.start)
            await member.commit({})
            assert await member.committed() == {}

            assert member.generation_if_stable == generation
            assert "on_lost" not in member.names()


EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs/client.md").read_text(), re.DOTALL)
PRINTED = (
    f"generation 1: mine are {list(range(16))}",
    "leading with token",
    f"mine: {[f'site-{i}' for i in range(10)]} from:",
    f"['{socket.gethostname()}']",
)


@pytest.mark.parametrize(
    ("example", "printed"), [*zip(EXAMPLES, PRINTED, strict=True)], ids=["group", "election", "work", "members"]
)
async def test_the_examples_of_the_documentation(
    address: Address, fresh_name: str, tmp_path: Path, example: str, printed: str
) -> None:
    """Each prints what it should, alone in its group, and leaves it at ctrl-C without a word."""
    program = tmp_path / "example.py"
    program.write_text(re.sub(r'"127.0.0.1:9092", "[\w-]+"', f'"{address[0]}:{address[1]}", "{fresh_name}"', example))
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(program), cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=PIPE, stderr=PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            line = await process.stdout.readline()
            process.send_signal(signal.SIGINT)
            _, said = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    assert line.decode().startswith(printed)
    assert (process.returncode, said.decode()) == (0, "")


async def create_topic(address: Address, name: str) -> None:
    from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
    from tests.support.client import Client

    with Client(address) as client:
        client.ask(CreateTopicsRequest([CreatableTopic(name, 4, 1)]), 5, CreateTopicsResponse)
