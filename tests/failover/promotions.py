"""Nodes over a PostgreSQL whose primary Patroni chooses, while primaries end under commits: how long nobody acknowledges any.

Groups with librdkafka commit all the time, each offset synchronously. Beside them a client of the database alone inserts rows, so
that the time of the failover itself is known. In the end every group must have the last offset that was acknowledged, or one that
was tried after it, and the table every row.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import asyncpg

from tests.failover.patroni import LOOP_WAIT_S, TTL_S, Member, Patroni
from tests.support.eventually import eventually
from tests.support.node_cluster import GROUPS, Committer, NodeCluster

NODES: Final = 2
PATIENCE_S: Final = 120.0
SETTLED_S: Final = 2.0
RESTARTED: Final = "PostgreSQL killed"
"""Patroni starts it again, as it is."""
_REFUSALS: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
_TABLE: Final = "CREATE TABLE public.written (number bigint PRIMARY KEY)"
_INSERT: Final = "INSERT INTO public.written VALUES ($1) ON CONFLICT DO NOTHING"


class Writer(threading.Thread):
    """A client of the database that inserts the next number again and again, and notes when it was acknowledged."""

    def __init__(self, urls: Sequence[str]) -> None:
        super().__init__(name="writer", daemon=True)
        self.acknowledged = 0
        self.longest_s = 0.0
        self._urls = cycle(urls)
        self._last_s = time.monotonic()
        self._is_over = threading.Event()

    def run(self) -> None:
        """Insert until ``finish``."""
        asyncio.run(self._insert())

    def begin_anew(self) -> None:
        """Measure from now on."""
        self.longest_s, self._last_s = 0.0, time.monotonic()

    def finish(self) -> None:
        """Stop."""
        self._is_over.set()
        self.join(PATIENCE_S)

    async def _insert(self) -> None:
        while not self._is_over.is_set():
            try:
                # A primary whose commits no standby has any more does not answer, and the next one is another host.
                connection = await asyncpg.connect(next(self._urls), target_session_attrs="primary", timeout=1, command_timeout=1)
            except (OSError, TimeoutError, *_REFUSALS):
                await asyncio.sleep(0.05)
                continue
            try:
                while not self._is_over.is_set():
                    await connection.execute(_INSERT, self.acknowledged + 1)
                    now_s = time.monotonic()
                    self.longest_s, self._last_s = max(self.longest_s, now_s - self._last_s), now_s
                    self.acknowledged += 1
                    await asyncio.sleep(0.01)
            except (OSError, TimeoutError, *_REFUSALS):
                connection.terminate()


async def _fetch(url: str, statement: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(statement))
    finally:
        await connection.close()


class Play:
    """The nodes, their clients, and what ends the primary."""

    def __init__(self, patroni: Patroni, nodes: NodeCluster, random: Random, say: Callable[[str], None]) -> None:
        self.faults: list[str] = []
        self._say = say
        self._patroni = patroni
        self._random = random
        self._committers = [Committer(nodes.bootstrap, group_id) for group_id in GROUPS]
        self._writer = Writer(patroni.urls)
        self._clients: list[Committer | Writer] = [*self._committers, self._writer]
        self._accidents: dict[str, Callable[[Member], None]] = {
            "both killed": patroni.kill,
            RESTARTED: patroni.kill_postgresql,
            "Patroni killed": patroni.kill_patroni,
            "switchover": patroni.hand_over,
        }

    def begin(self) -> None:
        """Start the clients."""
        asyncio.run(_fetch(self._patroni.url, _TABLE))
        for client in self._clients:
            client.start()
        self._go_on()

    def rounds(self, seconds: float) -> None:
        """Let primaries end for so long, in the order of the kinds, and then at random."""
        until, left = time.monotonic() + seconds, [*self._accidents]
        while time.monotonic() < until:
            kind = left.pop(0) if left else self._random.choice([*self._accidents])
            time.sleep(SETTLED_S + self._random.random())
            self._round(kind)

    def finish(self) -> None:
        """Compare what is there with what was acknowledged."""
        for each in self._committers:
            found = each.finish()
            if found < each.acknowledged:
                self.faults.append(f"{each.name}: {found} is committed, {each.acknowledged} was acknowledged")
        self._writer.finish()
        there = {row[0] for row in asyncio.run(_fetch(self._patroni.url, "SELECT number FROM public.written"))}
        if missing := set(range(1, self._writer.acknowledged + 1)) - there:
            self.faults.append(f"the database lacks {len(missing)} rows that it acknowledged, as {min(missing)}")
        commits = sum(each.acknowledged for each in self._committers)
        self._say(f"acknowledged: {commits:,} commits, {self._writer.acknowledged:,} rows")

    def _round(self, kind: str) -> None:
        leader = eventually(lambda: self._patroni.leader, PATIENCE_S, self._patroni.described)
        assert leader is not None
        for client in self._clients:
            client.begin_anew()
        self._accidents[kind](leader)
        if kind != RESTARTED:
            # Until then the former one may go on.
            eventually(lambda: self._patroni.leader not in {None, leader}, PATIENCE_S, self._patroni.described)
        self._go_on()
        longest_s = max(each.longest_s for each in self._committers)
        failed = sum(len(each.failures) for each in self._committers)
        self._say(
            f"{kind:18} database {self._writer.longest_s:5.1f} s   commits {longest_s:5.1f} s   {failed} failed"
            f"   load {os.getloadavg()[0]:.1f}"
        )
        self._patroni.start_member(leader)
        self._patroni.settle()

    def _go_on(self) -> None:
        """Return when every client has had another ten acknowledgements."""
        before = [each.acknowledged for each in self._clients]
        eventually(
            lambda: all(each.acknowledged >= old + 10 for each, old in zip(self._clients, before, strict=True)),
            PATIENCE_S,
            self._patroni.described,
        )


def play(seconds: float, random: Random, say: Callable[[str], None]) -> int:
    """Run it, and say what happens. Return the number of faults that were found. Raises Missing."""
    patroni = Patroni()
    say(f"Patroni with ttl {TTL_S} s, loop_wait {LOOP_WAIT_S} s; {NODES} nodes")
    with TemporaryDirectory(prefix="promotions-") as directory:
        nodes: NodeCluster | None = None
        try:
            patroni.start()
            asyncio.run(_fetch(patroni.url.replace("/coordinator?", "/postgres?"), "CREATE DATABASE coordinator"))
            nodes = NodeCluster(Path(directory), patroni.url, NODES, {"offsets.topic.num.partitions": 12})
            nodes.start()
            played = Play(patroni, nodes, random, say)
            played.begin()
            played.rounds(seconds)
            played.finish()
        finally:
            if nodes is not None:
                nodes.close()
            patroni.close()
    for fault in played.faults:
        say(f"FAULT: {fault}")
    return len(played.faults)
