"""Members of the client library that freeze, die, leave and come back, and a server that is killed among them.

``make torture`` runs it with fifty members for five minutes; ``--bootstrap HOST:PORT`` against a broker, which is not killed.
"""

from __future__ import annotations

import os
import random
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.client_chaos import Ledger, Life, Member, disturb, is_settled
from tests.support.eventually import eventually
from tests.support.server import Server

MEMBERS = int(os.environ.get("CLIENT_CHAOS_MEMBERS", "5"))
SECONDS = float(os.environ.get("CLIENT_CHAOS_S", "4"))
SESSION_S = float(os.environ.get("CLIENT_CHAOS_SESSION_S", "1"))
ITEMS = tuple(f"item {i}" for i in range(MEMBERS * 2 + 1))
# Ten seconds are enough, but for a machine that does many other things.
SETTLED_WITHIN_S = 60


@pytest.fixture
def own_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server | None]:
    if request.config.getoption("--bootstrap"):
        yield None
    else:
        with Server(tmp_path) as server:
            yield server


def test_chaos(own_server: Server | None, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> None:
    """At most one leader, at most one owner, callbacks in order; and soon after the last disturbance everything is settled."""
    seed = request.config.getoption("--seed") or secrets.randbits(32)
    print(f"--seed {seed}")  # noqa: T201 - pytest shows it when the test fails
    rng = random.Random(seed)
    bootstrap = request.config.getoption("--bootstrap") if own_server is None else own_server.bootstrap
    ledger, life = Ledger(), Life(bootstrap, f"chaos-{secrets.token_hex(4)}", ITEMS, SESSION_S)

    def start(name: str, is_static: bool) -> Member:
        return Member(life, ledger, name, is_static=is_static)

    members = [start(f"member-{i}", i % 3 == 0) for i in range(MEMBERS)]
    try:
        until = time.monotonic() + SECONDS
        kills = 0
        while time.monotonic() < until:
            print(f"{time.monotonic():.1f} {disturb(members, rng, SESSION_S, start)}")  # noqa: T201 - and this
            time.sleep(rng.random() * 4 * SESSION_S / MEMBERS)
            if own_server is not None and time.monotonic() > until - SECONDS / 2 + kills * 60:
                kills += 1
                own_server.kill()
                own_server.start()
        began = time.monotonic()
        eventually(
            lambda: is_settled(members, ITEMS),
            SETTLED_WITHIN_S,
            lambda: [(each.name, each.leads, each.owned) for each in members],
        )
        settled_s = time.monotonic() - began
    finally:
        for member in members:
            member.leave()
    ledger.check()
    acknowledged = sum(map(len, ledger.written.values()))
    with capsys.disabled():
        print(f"\n{MEMBERS} members, {len(ledger.terms)} terms, {acknowledged} checkpoints, settled in {settled_s:.1f} s")  # noqa: T201 - figures
    assert acknowledged
