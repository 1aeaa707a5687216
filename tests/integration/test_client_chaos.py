"""Members of the client library that freeze, die, leave and come back, each a process; and a server that is killed among them.

``make torture`` runs it with fifty members for five minutes, ``make chaos`` also with a Kafka broker and with kfake,
which are not killed.
"""

from __future__ import annotations

import os
import random
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.chaos_member import Life
from tests.support.client_chaos import Crew, Ledger
from tests.support.kafka_broker import KafkaBroker
from tests.support.kfake import kfake
from tests.support.server import Server

SERVERS = os.environ.get("CLIENT_CHAOS_SERVERS", "ours").split(",")
MEMBERS = int(os.environ.get("CLIENT_CHAOS_MEMBERS", "5"))
SECONDS = float(os.environ.get("CLIENT_CHAOS_S", "4"))
SESSION_S = float(os.environ.get("CLIENT_CHAOS_SESSION_S", "1"))
ITEMS = [f"item {i}" for i in range(MEMBERS * 2 + 1)]
# Ten seconds are enough, but for a machine that does many other things.
SETTLED_WITHIN_S = 60
KILLED_EVERY_S = 60

SETTINGS = {"group.min.session.timeout.ms": 500}

# The address, and what to do each minute.
Running = tuple[str, Callable[[], None]]


@contextmanager
def ours(directory: Path) -> Iterator[Running]:
    with Server(directory) as server:

        def restart() -> None:
            server.kill()
            server.start()

        yield server.bootstrap, restart


@contextmanager
def kafka(directory: Path) -> Iterator[Running]:
    with KafkaBroker(directory).start(SETTINGS) as broker:
        yield f"{broker.address[0]}:{broker.address[1]}", lambda: None


@contextmanager
def fake(_directory: Path) -> Iterator[Running]:
    with kfake(SETTINGS) as address:
        yield address, lambda: None


# kfake removes a member that waits in JoinGroup for longer than its session, and never answers it.
REBALANCE_SESSIONS = {"ours": 2, "kafka": 2, "kfake": 0.75}
# It also begins the deadline of a rebalance anew with each JoinGroup, and keeps members that died in one: fifty programs were 119
# members after four minutes, and no rebalance ended.
MOST_MEMBERS = {"ours": MEMBERS, "kafka": MEMBERS, "kfake": 8}
STARTS = {"ours": ours, "kafka": kafka, "kfake": fake}


@pytest.mark.parametrize("name", SERVERS)
def test_chaos(name: str, tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> None:
    """At most one leader, at most one owner, callbacks in order; and soon after the last disturbance everything is settled."""
    seed = request.config.getoption("--seed") or secrets.randbits(32)
    print(f"--seed {seed}")  # noqa: T201 - pytest shows it when the test fails
    notes, members = tmp_path / "notes", min(MEMBERS, MOST_MEMBERS[name])
    notes.mkdir()
    with STARTS[name](tmp_path) as (address, restart):
        life = Life(address, f"chaos-{secrets.token_hex(4)}", ITEMS, SESSION_S, REBALANCE_SESSIONS[name] * SESSION_S)
        with Crew(life, notes, random.Random(seed)) as crew:
            crew.members += [crew.start(f"member-{i}", is_static=i % 3 == 0) for i in range(members)]
            _storm(crew, restart)
            settled_s = crew.settle(SETTLED_WITHIN_S)
            crew.leave()
    ledger = Ledger(notes)
    with capsys.disabled():
        print(f"\n{name}: {members} members, {_figures(crew, ledger)}, settled in {settled_s:.1f} s")  # noqa: T201 - figures
    assert list(ledger.wrong()) == []
    assert ledger.terms
    assert ledger.written


def _storm(crew: Crew, restart: Callable[[], None]) -> None:
    until = time.monotonic() + SECONDS
    restart_at = until - SECONDS / 2
    while time.monotonic() < until:
        print(f"{time.monotonic():.1f} {crew.disturb()}")  # noqa: T201 - and this
        crew.rest(random.random() * SESSION_S / 5)
        if time.monotonic() > restart_at:
            restart_at += KILLED_EVERY_S
            restart()


def _figures(crew: Crew, ledger: Ledger) -> str:
    done = ", ".join(f"{times} x {what}" for what, times in sorted(crew.done.items()))
    checkpoints = sum(map(len, ledger.written.values()))
    completed = sum(name == "on_join_complete" for calls in ledger.callbacks.values() for name, _ in calls)
    return f"{done}; {len(ledger.terms)} terms, {checkpoints} checkpoints, {completed} assignments taken"
