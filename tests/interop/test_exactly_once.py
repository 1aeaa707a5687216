"""Stock transactional producers move offsets of groups while clients, loops and the server die, and shards move between loops:
all of a transaction's groups move, or none does.

Reproduce a failure with the seed that it prints: --seed N; for longer: --ledger-seconds N.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.interop.stock_mover import StockMover, Work
from tests.interop.transactional import ProducerProcess, confluent_process, franz_producer, java_producer, session_of
from tests.support.eventually import eventually
from tests.support.ledger import Ledger
from tests.support.mover import TOPIC, Outcome
from tests.support.ports import free_port
from tests.support.server import Server
from tests.support.server_faults import ServerFaults
from tests.support.transactional_server import PROPERTIES, await_coordinators, left_open, moving, producer_ids, read

ROUNDS = 2
MOVED_EVERY_S = 1.0
# A slow machine may not let every producer begin in the time: half of them must, and get more rounds if they need them.
LEAST, MOST_ROUNDS = 4, 15
MADE: dict[str, Callable[[str, str], ProducerProcess]] = {
    "java": java_producer,
    "confluent-kafka": confluent_process,
    "franz-go": franz_producer,
    "franz-go-1": lambda bootstrap, transactional_id: franz_producer(bootstrap, transactional_id, version=1),
}
PRODUCERS = ["java", "java", *["confluent-kafka"] * 3, "franz-go", "franz-go", "franz-go-1"]
IDS = [f"{library}-{number}" for number, library in enumerate(PRODUCERS)]
SESSIONS = [session_of(each) for each in IDS if each.startswith("franz-go")]
NAMES = [f"group-{number}" for number in range(8)]


def work_of(number: int, bootstrap: str) -> Work:
    library, transactional_id = PRODUCERS[number], IDS[number]
    own_groups = [session_of(transactional_id)] if library.startswith("franz-go") else []
    return Work(transactional_id, number, NAMES, own_groups, lambda: MADE[library](bootstrap, transactional_id))


@contextmanager
def at_work(bootstrap: str, chance: random.Random) -> Iterator[list[StockMover]]:
    """Within this all producers work. They have ended after it."""
    offsets = count(1)
    movers = [StockMover(work_of(number, bootstrap), offsets, random.Random(chance.random())) for number in range(len(IDS))]
    for mover in movers:
        mover.start()
    try:
        yield movers
    finally:
        with ThreadPoolExecutor(len(movers)) as pool:
            list(pool.map(StockMover.end, movers))


@pytest.mark.crash
def test_offsets_of_stock_producers_move_exactly_once(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    seed = request.config.getoption("--seed")
    seed = random.randrange(1 << 32) if seed is None else seed
    print(f"--seed {seed}")  # noqa: T201 - pytest shows it when the test fails
    chance = random.Random(seed)
    server = Server(tmp_path, PROPERTIES | {"topics": f"{TOPIC}:{len(IDS)}"}, loops=2)
    server.port = free_port()
    faults = ServerFaults(server, chance)
    with server:
        await_coordinators(server, IDS)
        with at_work(server.bootstrap, chance) as movers:
            ledger = Ledger(movers, IDS)
            until_s = time.monotonic() + request.config.getoption("--ledger-seconds")
            rounds = 0
            while rounds < ROUNDS or time.monotonic() < until_s or (len(have_committed(ledger)) < LEAST and rounds < MOST_ROUNDS):
                rounds += 1
                with moving(server, MOVED_EVERY_S, chance.random()) as shards:
                    faults.trouble()
                    time.sleep(chance.uniform(0.5, 2))
                faults.counts["shards moved"] += len(shards.moves)
                if chance.random() < 0.5:
                    faults.kill_all()
                assert ledger.wrong_now(read(server, [*NAMES, *SESSIONS])) == []
                assert ledger.wrong_ids(producer_ids(server)) == []
        eventually(lambda: left_open(server) == [])
        committed = read(server, [*NAMES, *SESSIONS])
    assert ledger.wrong_now(committed) == []
    assert ledger.wrong_after_all(committed) == []
    report(ledger, faults.counts + sum((mover.faults for mover in movers), Counter()))
    assert len(have_committed(ledger)) >= LEAST


def have_committed(ledger: Ledger) -> set[str]:
    return {each.transactional_id for each in ledger.moved if each.outcome is Outcome.COMMITTED}


def report(ledger: Ledger, faults: Counter[str]) -> None:
    """Print what was done; pytest shows it with -s."""
    outcomes = Counter(each.outcome.value for each in ledger.moved)
    libraries = Counter(each.transactional_id.rpartition("-")[0] for each in ledger.moved if each.outcome is Outcome.COMMITTED)
    for counts in (outcomes, libraries, faults):
        print(", ".join(f"{number} {name}" for name, number in sorted(counts.items())))  # noqa: T201 - the result of a long run
