"""Nodes on a PostgreSQL whose servers and connections fail: python -m tests.failover --seconds 60 [--seed N] [--patroni]

Each node owns its shards, and appends values to them, which are numbered. Meanwhile connections are cut, statements and answers are
lost or held, backends are cancelled and killed, and the primary is killed, or goes on beside the one that replaces it. A node notes
what it was told of each value. In the end each shard must have exactly the values that were durable, each once and in order; nobody
may see an alarm. With --patroni the primaries of a PostgreSQL end that Patroni looks after (promotions.py).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

import asyncpg

from coordinator_server.log.errors import LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.log import PostgresqlLog, open_postgresql_log
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import Failures
from tests.failover import promotions
from tests.failover.cluster import Cluster
from tests.failover.patroni import Missing
from tests.support.log import batch, values
from tests.support.postgresql import COUNTS, NoPostgresql

SHARDS = 6
ANSWER_S = 1.0


class Node:
    """A node, and what it was told."""

    def __init__(self, number: int, log: PostgresqlLog, random: Random) -> None:
        self.log = log
        self.shards = [ShardId("__consumer_offsets", number * SHARDS + each) for each in range(SHARDS)]
        self.durable: dict[ShardId, list[bytes | None]] = {shard: [] for shard in self.shards}
        self.outcomes: Counter[str] = Counter()
        self.alarms: list[str] = []
        self.longest_s = 0.0
        self._random = random
        self._numbers = iter(range(1 << 40))

    async def play(self, until: float) -> None:
        """Append until then."""
        last = time.monotonic()
        while time.monotonic() < until and not self.alarms:
            chosen = self._random.sample(self.shards, self._random.randint(1, SHARDS))
            appends = [
                Append(each, 1, len(self.durable[each]), batch(len(self.durable[each]), b"%d" % next(self._numbers)))
                for each in chosen
            ]
            failures = await self._submit(appends)
            doubted = [each for each in appends if isinstance(failures.get(each.shard), OutcomeUnknown)]
            if doubted:
                self.outcomes["in doubt"] += len(doubted)
                resolved = await self._resolve(doubted)
                failures = {shard: failure for shard, failure in failures.items() if not isinstance(failure, OutcomeUnknown)}
                failures |= resolved
            self._note(appends, failures)
            now = time.monotonic()
            self.longest_s, last = max(self.longest_s, now - last), now

    def _note(self, appends: list[Append], failures: dict[ShardId, LogError]) -> None:
        for append in appends:
            failure = failures.get(append.shard)
            if failure is None:
                self.outcomes["durable"] += 1
                self.durable[append.shard] += values([append.data])
            elif isinstance(failure, Unavailable):
                self.outcomes["refused"] += 1
            else:
                self.alarms.append(f"{append.shard}: {failure!r}")

    async def _submit(self, appends: list[Append]) -> dict[ShardId, LogError]:
        done: asyncio.Future[Failures | None] = asyncio.get_running_loop().create_future()
        self.log.submit(appends, done.set_result)
        return dict(await done or {})

    async def _resolve(self, appends: list[Append]) -> dict[ShardId, LogError]:
        done: asyncio.Future[Failures | None] = asyncio.get_running_loop().create_future()
        self.log.resolve(appends, done.set_result)
        return dict(await done or {})


class Accidents:
    """What goes wrong, in a thread, until it is told to stop."""

    def __init__(self, cluster: Cluster, random: Random) -> None:
        self._cluster = cluster
        self._random = random
        self._is_over = threading.Event()
        self.counts: Counter[str] = Counter()
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._is_over.wait(self._random.uniform(0.05, 0.6)):
                self._happen()
        except BaseException as error:
            self.error = error
            raise

    def _happen(self) -> None:
        cluster, random = self._cluster, self._random
        place = random.choice(cluster.places)
        kind = random.choices(
            ("cut", "answer lost", "question lost", "held", "cancelled", "killed", "primary killed", "two primaries"),
            (4, 4, 4, 4, 4, 4, 1, 1),
        )[0]
        self.counts[kind] += 1
        match kind:
            case "cut":
                place.cut()
            case "answer lost":
                place.loses_answer = True
            case "question lost":
                place.loses_question = True
            case "held":
                held = place.hold()
                threading.Timer(random.uniform(0.2, 3), lambda: place.release(held)).start()
            case "cancelled" | "killed":
                how = "pg_cancel_backend" if kind == "cancelled" else "pg_terminate_backend"
                which = random.choice(("wait_event = 'SyncRep'", "application_name LIKE '%writes'"))
                with suppress(asyncpg.PostgresError):
                    cluster.primary.sql(f"SELECT {how}(pid) FROM pg_stat_activity WHERE {which}")
            case _:
                cluster.fail_over(random, is_former_alive=kind == "two primaries")


async def play(cluster: Cluster, seconds: float, random: Random) -> int:
    """Run it. Return the number of faults that were found."""
    address = Address(cluster.url, needs_standby=True)
    logs = [await open_postgresql_log(address, node_id=number, partitions=COUNTS, answer_s=ANSWER_S) for number in range(2)]
    await asyncio.to_thread(cluster.primary.sql, "UPDATE shard SET epoch = 1", database=cluster.database)
    nodes = [Node(number, log, random) for number, log in enumerate(logs)]
    accidents = Accidents(cluster, random)
    try:
        until = time.monotonic() + seconds
        await asyncio.gather(*[node.play(until) for node in nodes])
    finally:
        await asyncio.to_thread(accidents.stop)
    faults = [alarm for node in nodes for alarm in node.alarms]
    if accidents.error is not None:
        faults.append(f"the accidents ended: {accidents.error!r}")
    for node in nodes:
        node.log.close()
    reading = await open_postgresql_log(Address(cluster.primary.url(cluster.database)), node_id=9, partitions=COUNTS)
    for node in nodes:
        for shard in node.shards:
            found = await asyncio.to_thread(lambda shard=shard: values(reading.read(shard, 0)))  # type: ignore[misc]
            if found != node.durable[shard]:
                faults.append(_difference(shard, found, node.durable[shard]))
    reading.close()
    outcomes = sum((node.outcomes for node in nodes), Counter[str]())
    print(f"{dict(outcomes)}, longest pause {max(node.longest_s for node in nodes):.1f} s, {dict(accidents.counts)}")
    for fault in faults:
        print(f"FAULT: {fault}")
    return len(faults)


def _difference(shard: ShardId, found: list[bytes | None], expected: list[bytes | None]) -> str:
    missing: Any = [each for each in expected if each not in set(found)]
    unasked: Any = [each for each in found if each not in set(expected)]
    return f"{shard}: {len(expected)} are durable, {len(found)} are there; missing {missing[:5]}, not acknowledged {unasked[:5]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--patroni", action="store_true", help="end primaries, and let Patroni promote a standby")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    try:
        if options.patroni:
            return min(promotions.play(options.seconds, Random(options.seed), partial(print, flush=True)), 1)
        cluster = Cluster()
    except (Missing, NoPostgresql) as missing:
        print(missing, file=sys.stderr)
        return 2
    try:
        return min(asyncio.run(play(cluster, options.seconds, Random(options.seed))), 1)
    finally:
        cluster.close()


if __name__ == "__main__":
    sys.exit(main())
