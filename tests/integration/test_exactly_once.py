"""Producers move offsets of groups in transactions while loops are killed and stopped, their number changes, and shards move
between them: all offsets of a transaction move or none.

Each round has another number of loops, kills or stops some of them or the supervisor, and ends all by kill -9 or SIGTERM. In most
rounds shards move from loop to loop all the time.
Reproduce a failure with the seed that it prints: --seed N; more rounds: --crash-rounds N (a fifth of them is run).
"""

from __future__ import annotations

import random
import threading
import time
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.fields import Message
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.ledger import Ledger
from tests.support.mover import TOPIC, Mover, Outcome, Surroundings
from tests.support.server import Server
from tests.support.server_faults import ServerFaults
from tests.support.shard_mover import ShardMover
from tests.support.transactional_server import PARTITIONS, PROPERTIES, await_coordinators, left_open, moving, read, shard_of

M = TypeVar("M", bound=Message)

IDS = [f"tx-{number}" for number in range(4)]
NAMES = [f"group-{number}" for number in range(8)]
LOOPS = (2, 3, 1)
# A shard moves every so often.
MOVES_S = (0.05, 0.3, 1.0)


class Over(Exception):
    """The round is over."""


class Connection:
    """A blocking connection to one loop, made anew when it breaks. Nothing that awaits it is ever suspended."""

    def __init__(self, address: tuple[str, int], is_over: threading.Event) -> None:
        self._address = address
        self._is_over = is_over
        self._client: Client | None = None

    @property
    def now_us(self) -> int:
        return time.monotonic_ns() // 1000

    async def sleep(self, ms: int) -> None:
        if self._is_over.wait(ms / 1000):
            raise Over

    async def ask(self, request: Message, version: int, response: type[M], timeout_ms: int = 5000) -> M | None:
        try:
            if self._client is None:
                self._client = Client(self._address, timeout_s=timeout_ms / 1000)
            return self._client.ask(request, version, response)
        except (ConnectionError, TimeoutError):
            if self._client is not None:
                self._client.close()
            self._client = None
            return None

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


class Round:
    """Producers at work, each in a thread. Two of them have the same transactional id now and then."""

    def __init__(
        self, server: Server, shards: ShardMover, producers: list[Mover], offsets: count[int], chance: random.Random
    ) -> None:
        self._is_over = threading.Event()
        self._shards = shards
        self._connections: list[Connection] = []
        self._threads = []
        self.failures: list[BaseException] = []
        self._addresses = server.addresses
        for name in [*IDS, chance.choice(IDS)]:
            connections = [Connection(address, self._is_over) for address in self._addresses]
            self._connections += connections
            around = Surroundings(connections, self._owner, lambda: next(offsets))
            producer = Mover(name, IDS.index(name), random.Random(chance.random()), around)
            producers.append(producer)
            self._threads.append(threading.Thread(target=self._run, args=(producer,), daemon=True))
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()
        for connection in self._connections:
            connection.close()
        assert self.failures == []

    def _run(self, producer: Mover) -> None:
        try:
            producer.work(NAMES).send(None)
        except Over:
            pass
        except BaseException as failure:  # noqa: BLE001 - for the test's own thread
            self.failures.append(failure)

    def _owner(self, topic: str, key: str) -> int:
        unmoved = partition_for(key, PARTITIONS) % len(self._addresses)
        return self._shards.owners.get(shard_of(topic, key), unmoved)


@pytest.mark.crash
def test_all_groups_of_a_transaction_move_or_none(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    seed = request.config.getoption("--seed")
    seed = random.randrange(1 << 32) if seed is None else seed
    print(f"--seed {seed}")  # noqa: T201 - pytest shows it when the test fails
    chance = random.Random(seed)
    producers: list[Mover] = []
    ledger, offsets, moves = Ledger(producers, IDS), count(1), 0
    with Server(tmp_path, PROPERTIES | {"topics": f"{TOPIC}:{len(IDS)}"}) as server:
        for number in range(max(len(LOOPS), request.config.getoption("--crash-rounds") // 5)):
            server.stop() if chance.random() < 0.3 else server.kill()
            server.loops, server.port = LOOPS[number % len(LOOPS)], 0
            server.start()
            await_coordinators(server, IDS)
            assert ledger.wrong_now(read(server, NAMES)) == []
            moves += run_round(server, producers, offsets, chance)
        eventually(lambda: left_open(server) == [])
        committed = read(server, NAMES)
    assert ledger.wrong_now(committed) == []
    assert ledger.wrong_after_all(committed) == []
    outcomes = [moved.outcome for moved in ledger.moved]
    assert outcomes.count(Outcome.COMMITTED) > 10
    assert outcomes.count(Outcome.ABORTED) > 0
    assert moves > 0
    print(f"{moves} shards moved, {len(outcomes)} transactions")  # noqa: T201 - the result of a long run


def run_round(server: Server, producers: list[Mover], offsets: count[int], chance: random.Random) -> int:
    """Under load some loops are killed or stopped, and all serve again in the end. Return how many shards moved."""
    with moving(server, chance.choice(MOVES_S), chance.random()) as shards:
        work = Round(server, shards, producers, offsets, chance)
        ServerFaults(server, chance).trouble()
        time.sleep(chance.uniform(0.5, 1.5))
    work.end()
    return len(shards.moves)
