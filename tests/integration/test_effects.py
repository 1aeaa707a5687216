"""Effects between shards in a whole server: money goes from purse to purse (tests/toy/purse.py),
across loops that die at any moment.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.toy.purse import TOPIC
from tests.toy.purse_rows import PARTITIONS, PURSES
from tests.toy.rows import ENVIRONMENT

SHARDS = [f"{TOPIC}-{partition}" for partition in range(PARTITIONS)]
NAMES = [f"purse-{number}" for number in range(20)]
EACH = 1000


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """One that has purses; not started."""
    server = Server(tmp_path)
    server.environment = ENVIRONMENT
    yield server
    server.__exit__()


def open_purses(server: Server) -> None:
    """For the first time; each has as much as any other."""
    with Client(server.address) as client:
        request = FindCoordinatorRequest(key_type=PURSES.key_type or 0, coordinator_keys=[NAMES[0]])
        answer = client.ask(request, 4, FindCoordinatorResponse)
        assert answer.coordinators[0].error_code == ErrorCode.NONE
    eventually(lambda: {server.control(op="shards")["shards"].get(shard, {}).get("state") for shard in SHARDS} == {"active"})
    for name in NAMES:
        assert ask(server, name, fill={"name": name, "amount": EACH})["ok"]


def ask(server: Server, name: str, **request: Any) -> dict[str, Any]:
    return server.control(op=TOPIC, shards=[f"{TOPIC}-{partition_for(name, PARTITIONS)}"], **request)


def pay(server: Server, chance: random.Random, number: int) -> bool:
    """A transfer from any purse to any other; whether it was answered."""
    payer, payee = chance.sample([*NAMES, "sealed-1"], 2)
    payer, payee = (payee, payer) if payer.startswith("sealed") else (payer, payee)
    transfer = {"id": f"t{number}", "payer": payer, "payee": payee, "amount": chance.randrange(1, 20)}
    return bool(ask(server, payer, transfer=transfer)["ok"])


def states(server: Server) -> dict[str, Any]:
    answer = server.control(op=TOPIC, shards=SHARDS)
    return dict(answer["purses"]) if answer["ok"] else {}


def settled(server: Server) -> dict[str, Any]:
    """What the shards hold once nothing is under way, and their sums are of today."""

    def is_settled() -> bool:
        found = states(server).values()
        return bool(found) and all(
            not each["open"] and not each["arrived"] and (each["sum"] or {}).get("as_of") == each["changed_at"] for each in found
        )

    eventually(is_settled, describe=lambda: f"{states(server)}\n{server.log()[-3000:]}")
    return states(server)


def check_money(server: Server) -> None:
    """None is lost, none is made, and children have added it up."""
    found = settled(server)
    for each in found.values():
        assert each["sum"]["amount"] == sum(each["purses"].values())
    assert sum(amount for each in found.values() for amount in each["purses"].values()) == EACH * len(NAMES)
    assert not any(name.startswith("sealed") for each in found.values() for name in each["purses"])


@pytest.mark.parametrize("loops", [1, 2, 3])
def test_money_goes_from_shard_to_shard(server: Server, loops: int) -> None:
    """Within a loop and between loops; a start finds it where it was."""
    server.loops = loops
    server.start()
    open_purses(server)
    chance = random.Random(7)
    assert all(pay(server, chance, number) for number in range(60))
    check_money(server)
    before = {shard: each["purses"] for shard, each in states(server).items()}
    assert before != {shard: dict.fromkeys(each, EACH) for shard, each in before.items()}
    assert server.stop() == 0
    assert not list(server.data_dir.glob("*.sock"))
    server.loops, server.port = 4 - loops, 0
    server.start()
    check_money(server)

    assert {shard: each["purses"] for shard, each in states(server).items()} == before


def is_whole_again(server: Server, killed: int) -> bool:
    """Whether another process serves in the place of a loop that has been killed: its end is not known at once."""
    loops = server.control(op="loops")["loops"]
    return all(each["stage"] == "serving" and each["pid"] != killed for each in loops)


@pytest.mark.crash
@pytest.mark.parametrize("loops", [1, 2])
def test_it_arrives_once_whoever_dies(request: pytest.FixtureRequest, server: Server, loops: int) -> None:
    """kill -9 of a loop, or of all, in the middle of it. Nothing is under way for good, and what was paid twice would show."""
    seed = request.config.getoption("--seed")
    seed = random.randrange(1 << 32) if seed is None else seed
    print(f"--seed {seed}")  # noqa: T201 - pytest shows it when the test fails
    chance = random.Random(seed)
    server.loops = loops
    server.start()
    open_purses(server)
    number = paid = 0
    for _ in range(max(4, request.config.getoption("--crash-rounds") // 5)):
        for _ in range(chance.randrange(5, 40)):
            paid += pay(server, chance, number)
            number += 1
        if loops > 1 and chance.random() < 0.8:
            killed = chance.choice(server.loop_pids())
            os.kill(killed, signal.SIGKILL)
            for _ in range(chance.randrange(0, 20)):
                paid += pay(server, chance, number)
                number += 1
            eventually(partial(is_whole_again, server, killed))
        else:
            server.kill()
            server.start()
        if chance.random() < 0.3:
            check_money(server)
    check_money(server)
    # Whom a loop that is gone would have answered may have been refused, and nobody else.
    assert paid > number // 2


def test_a_child_that_is_killed_is_missed_by_nobody(server: Server) -> None:
    """Another one does what it was doing; the children end with their loop."""
    server.start()
    open_purses(server)
    settled(server)
    [child] = children_of(server.pid)
    os.kill(child, signal.SIGKILL)
    assert pay(server, random.Random(1), 1)
    check_money(server)
    [other] = children_of(server.pid)
    assert other != child
    assert "child-lost" in server.log()

    server.kill()
    eventually(lambda: not Path(f"/proc/{other}").exists())


def children_of(pid: int) -> list[int]:
    """Those that run tasks."""
    found = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [each for each in found if b"cli.child\0executor" in Path(f"/proc/{each}/cmdline").read_bytes()]


def test_a_child_is_started_when_there_is_something_to_do(server: Server) -> None:
    """A server that nobody uses has none; when memory is short, it goes first."""
    server.start()
    time.sleep(0.2)
    assert children_of(server.pid) == []
    open_purses(server)
    settled(server)

    [child] = children_of(server.pid)
    assert Path(f"/proc/{child}/oom_score_adj").read_text() == "1000\n"
