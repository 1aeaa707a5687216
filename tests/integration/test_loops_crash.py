"""Loops die one by one, the supervisor dies with all of them, and their number changes:
what was acknowledged is there, at the right loop.

A committer for each loop and one that makes topics never stop. Each round has another number of loops, kills some of them, and
ends all by kill -9 or SIGTERM. Reproduce a failure with the seed that it prints: --seed N; more rounds:
--crash-rounds N (a fifth of them is run).
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed, create_topic, topic_of

GROUPS = [f"group-{number}" for number in range(12)]
LOOPS = (2, 3, 1)


class History:
    """What was sent, what was acknowledged, and whatever was wrong. Each group has one writer at a time, and so have the topics."""

    def __init__(self) -> None:
        self.sent = dict.fromkeys(GROUPS, -1)
        self.acked = dict.fromkeys(GROUPS, -1)
        self.topics: set[str] = set()
        self.wrong: list[object] = []


class Worker(threading.Thread):
    """Does something over a connection until the round is over, and connects again when that breaks."""

    def __init__(self, history: History, server: Server, loop: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.history = history
        self.addresses = list(server.addresses)
        self.chance = random.Random(seed)
        self.loop = loop
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.is_set():
            try:
                with Client(self.addresses[self.loop], timeout_s=20) as client:
                    while not self.is_over.is_set():
                        self.work(client)
            except ConnectionError:
                time.sleep(0.01)
            except (AssertionError, TimeoutError) as failure:
                self.history.wrong.append(failure)
                return

    def work(self, client: Client) -> None:
        raise NotImplementedError


class Committer(Worker):
    """Commits to the groups of one loop."""

    def work(self, client: Client) -> None:
        group = self.chance.choice([each for each in GROUPS if partition_for(each, 50) % len(self.addresses) == self.loop])
        offset = self.history.sent[group] = self.history.sent[group] + 1
        answer = commit_alone(client, group, "orders", {0: offset})
        if answer == {0: ErrorCode.NONE}:
            self.history.acked[group] = offset
        else:
            self.history.wrong.append((group, answer))


class Maker(Worker):
    """Makes topics through one loop after the other; each is to be known by all that answer at all."""

    def work(self, client: Client) -> None:
        name = f"topic-{self.chance.randrange(1 << 48):x}"
        if create_topic(client, name, 1).error_code == ErrorCode.NONE:
            self.history.topics.add(name)
            self.check(name)
        self.loop = self.chance.randrange(len(self.addresses))
        time.sleep(0.01)
        raise ConnectionError

    def check(self, name: str) -> None:
        for address in self.addresses:
            try:
                with Client(address, timeout_s=20) as client:
                    error = topic_of(client, name, is_created=False).error_code
            except ConnectionError:
                continue
            # A loop that is apart from loop 0, on a machine that has no time for it, may not know; it must not deny.
            if error not in (ErrorCode.NONE, ErrorCode.LEADER_NOT_AVAILABLE):
                self.history.wrong.append((name, address, error))


@pytest.mark.crash
def test_nothing_is_lost_whichever_loops_die(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Every offset is at least the acknowledged one and at most the last one sent; every topic that was acknowledged is there."""
    seed = request.config.getoption("--seed")
    seed = random.randrange(1 << 32) if seed is None else seed
    print(f"--seed {seed}")  # noqa: T201 - pytest shows it when the test fails
    chance = random.Random(seed)
    history = History()
    with Server(tmp_path, {"topics": "orders:1"}) as server:
        for number in range(max(4, request.config.getoption("--crash-rounds") // 5)):
            server.stop() if chance.random() < 0.3 else server.kill()
            server.loops, server.port = LOOPS[number % len(LOOPS)], 0
            server.start()
            check(server, history)
            run_round(server, history, chance)
            assert not history.wrong
    assert all(acked >= 0 for acked in history.acked.values()), "not every group was ever committed to"
    assert history.topics, "no topic was ever made"


def run_round(server: Server, history: History, chance: random.Random) -> None:
    """Under load some loops are killed, and all serve again in the end."""
    workers: list[Worker] = [Committer(history, server, loop, chance.randrange(1 << 32)) for loop in range(server.loops)]
    workers.append(Maker(history, server, 0, chance.randrange(1 << 32)))
    for worker in workers:
        worker.start()
    for _ in range(chance.randint(1, 3) if server.loops > 1 else 0):
        time.sleep(chance.uniform(0.05, 0.4))
        each = chance.choice(server.control(op="loops")["loops"])
        if each["stage"] != "gone":
            os.kill(each["pid"], signal.SIGKILL)
    if server.loops > 1:
        eventually(lambda: {each["stage"] for each in server.control(op="loops")["loops"]} == {"serving"})
    time.sleep(chance.uniform(0.1, 0.4))
    for worker in workers:
        worker.is_over.set()
    for worker in workers:
        worker.join(30)
        assert not worker.is_alive()


def check(server: Server, history: History) -> None:
    for group in GROUPS:
        with Client(server.addresses[partition_for(group, 50) % server.loops]) as client:
            stored = committed(client, group).get(("orders", 0), -1)
        assert history.acked[group] <= stored <= history.sent[group], group
    for address in server.addresses:
        with Client(address) as client:
            unknown = [name for name in history.topics if topic_of(client, name, is_created=False).error_code]
        assert not unknown
