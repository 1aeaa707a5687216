"""Real clients and a server of three loops: they find the right one by themselves, whichever they ask first."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest

from coordinator_server.runtime.partitioner import partition_for
from tests.interop.clients import ADMINS
from tests.interop.crew import Crew
from tests.support.eventually import eventually
from tests.support.server import Server

LOOPS = 3


@pytest.fixture(scope="module")
def trio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("trio"), loops=LOOPS) as server:
        yield server


@pytest.fixture
def stranger(trio: Server, fresh_name: str) -> str:
    """The address of a loop that does not own the group, and is not the controller if that can be had."""
    owner = partition_for(fresh_name, 50) % LOOPS
    return f"{trio.host}:{trio.ports[max(loop for loop in range(LOOPS) if loop != owner)]}"


def test_a_crew_works_through_any_loop(trio: Server, stranger: str, crew_on: Callable[[str], Crew], library: str) -> None:
    """Topic and group are made through a loop that owns neither; the group forms, commits, and is listed and described.

    The loop that owns it is killed; its members find it again, and every acknowledged position is there.
    """
    crew = crew_on(stranger)
    owners = crew.join(2).settle()
    for partition, owner in owners.items():
        owner.commit({partition: 1000 + partition})
    admin = ADMINS[library](stranger)
    assert crew.group in admin.groups()
    assert admin.describe(crew.group) == ("Stable", 2)
    assert admin.committed(crew.group, crew.topic) == {partition: 1000 + partition for partition in range(6)}
    admin.close()
    loop = partition_for(crew.group, 50) % LOOPS
    pid = trio.loop_pids()[loop]

    os.kill(pid, signal.SIGKILL)

    eventually(lambda: trio.loop_pids()[loop] != pid)
    for partition, owner in crew.settle().items():
        owner.commit({partition: 2000 + partition})
    assert crew.members[0].committed(range(6)) == {partition: 2000 + partition for partition in range(6)}
