"""What the page is looked at with: the page of a directory, that of a running server, and a browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from coordinator_server.observe.end_offsets import EndOffsetsWriter
from protocol.messages.write_share_group_state import WriteShareGroupStateResponse
from tests.support.classic_members import assignment, subscription
from tests.support.client import Client
from tests.support.members import Member
from tests.support.page_log import Story, indexed
from tests.support.producer import Producer
from tests.support.secured_page import server_with_login
from tests.support.server import Server
from tests.support.share_state import initialize_shares, writing
from tests.support.simple_requests import make_topic, must_commit, topic_of

HOUR_MS = 3_600_000
HOSTILE = "<img src=x onerror=document.title='run'>\u202e" + "x" * 200
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def stories() -> list[Story]:
    """A group with a troubled day, an empty one, a deleted one, one of a hostile client, and a hundred more."""
    now_ms = round(time.time() * 1000)
    told = Story("billing-invoices", "invoices", 12, now_ms=now_ms - 26 * HOUR_MS)
    told.took_ms = 3_200
    told.join("billing-1").commit(times=200, ms=20_000).join("billing-2").commit(times=300, ms=20_000).join("billing-3")
    told.commit(times=800, ms=20_000).leave(1, "session-timeout").wait(90_000).join("billing-2").commit(times=500, ms=20_000)
    for _ in range(6):
        told.leave(2, "session-timeout").wait(8000).join("billing-3").commit(times=3, ms=9000)
    told.reset(0).commit(times=900, ms=20_000, step=80).join("billing-4").commit(times=1900, ms=20_000)
    found = [told, Story(HOSTILE, now_ms=now_ms - HOUR_MS).join(HOSTILE).commit(times=4)]
    found.append(Story("mailer", now_ms=now_ms - HOUR_MS).join("mailer-1").commit(times=9).leave())
    found.append(Story("retired", now_ms=now_ms - 5 * HOUR_MS).join("retired-1").commit(times=9).leave().delete())
    for number in range(120):
        kind = ("payments", "shipping", "audit", "search", "fraud-check")[number % 5]
        name = f"{kind}-{('eu', 'us', 'ap')[number % 3]}-{number:03}"
        topic = ("orders", "payments", "clicks")[number % 3]
        one = Story(name, topic, 1 + number % 6, now_ms - (1 + number * 7 % 29) * HOUR_MS, number)
        one.join(f"svc-{number % 11}").commit(times=3)
        if number % 4 == 0:
            one.join(f"svc-{number % 7}").commit().leave(0, "session-timeout").commit()
        found.append(one)
    return found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a directory whose server does not run. The ends of its topics were sampled, as where a cluster is followed."""
    told = stories()
    data = indexed(tmp_path_factory.mktemp("page"), told, 1 << 16)
    sample(data, told[0])
    command = [sys.executable, "-m", "coordinator_server", "page", "--listen", "127.0.0.1:0", "--data-dir", str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            found = process.stdout.readline().split()[2].rstrip("/")
            while _groups(found) < len(told) - 1:
                time.sleep(0.1)
            yield found
        finally:
            process.terminate()


def _groups(address: str) -> int:
    """Return how many groups are there: the page reads the log when somebody looks. One was deleted."""
    try:
        with urlopen(f"{address}/api/groups") as answer:
            found: int = json.load(answer)["groups"]
            return found
    except HTTPError:  # nothing has been read yet
        return 0


def sample(data: Path, told: Story) -> None:
    """The ends of invoices over the day: the group follows them, and has fallen behind since an hour. Of others none are known."""
    writer = EndOffsetsWriter(data)
    commits = [
        (at_ms, {int.from_bytes(key[-4:]): int.from_bytes(value[2:10]) for key, value in pairs if value is not None})
        for at_ms, pairs, headers in told.events
        if dict(headers)["op1"] == b"8/9"
    ]
    now_ms, ends, at = round(time.time() * 1000), [0] * told.partitions, 0
    for sampled_ms in range(commits[0][0], now_ms, 300_000):
        while at < len(commits) and commits[at][0] <= sampled_ms:
            for partition, offset in commits[at][1].items():
                ends[partition] = max(ends[partition], offset + 20 + (partition * 7 + at) % 90)
            at += 1
        behind = max(0, sampled_ms - (now_ms - HOUR_MS)) // 9000
        writer.write(sampled_ms, {"invoices": [each + behind for each in ends]})


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a running server: a rebalance that waits, transactions that are open and ended, deliveries not settled."""
    with Server(tmp_path_factory.mktemp("live"), {"page.listener": "127.0.0.1:0"}) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 4)
            must_commit(client, "invoices", "orders", {0: 100, 1: 250})
            jobs = [(topic_of(client, "orders").topic_id, 0)]
            initialize_shares(client, "workers", jobs)
            client.ask(writing("workers", jobs, (0, 9, 1, 2), (10, 14, 3, 0), (15, 40, 1, 0)), 0, WriteShareGroupStateResponse)
        for name, is_commit in (("billing-eu", True), ("billing-us", False)):
            with Producer(server.address, name) as producer:
                producer.init()
                producer.commit("invoices", "orders", {2: 7})
                producer.end(is_commit=is_commit)
        with Producer(server.address, "billing-ap") as producer:
            producer.init(600_000)
            producer.commit("invoices", "orders", {3: 9})
        rebalancing(server.address)
        yield page_address(server)


def rebalancing(address: tuple[str, int]) -> None:
    """Three consumers come, and commit. A fourth one comes, for which two join again: the third one is waited for."""

    def consumer(number: int) -> Member:
        long = {"session_timeout_ms": 1_800_000, "rebalance_timeout_ms": 1_800_000}
        return Member(address, "payments", client_id=f"payments-{number}", metadata=subscription("orders"), **long)

    def join(members: Sequence[Member]) -> None:
        members[-1].start_join()
        for each in members[:-1]:
            each.await_rebalance()
            each.start_join()

    members: list[Member] = []
    for number in (1, 2, 3):
        members.append(consumer(number))
        join(members)
        for each in members:
            each.finish_join()
        shares = {each.member_id: list(range(at, 4, number)) for at, each in enumerate(members)}
        told = {member_id: assignment({"orders": share}) for member_id, share in shares.items()}
        for each in members:
            each.start_sync(told if each.is_leader else None)
        for each in members:
            each.finish_sync()
        for progress in range(6):
            for each in members:
                each.commit("orders", {one: 100 * number + 10 * progress + one for one in shares[each.member_id]})
            time.sleep(0.15)
    join([*members[:2], consumer(4)])


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a server that other machines reach: with a login."""
    with server_with_login(tmp_path_factory.mktemp("guarded"), "127.0.0.1") as server:
        yield page_address(server).replace("0.0.0.0", "127.0.0.1")


def page_address(server: Server) -> str:
    [line] = [each for each in map(json.loads, server.log().splitlines()) if each["event"] == "page-listening"]
    found: str = line["address"]
    return found.rstrip("/")


@pytest.fixture(scope="module")
def sites(address: str, live: str) -> Mapping[str, str]:
    return {"": address, "live": live}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    # `make browser` installs it. `make test` reads this file, too, and nothing beside it.
    from playwright.sync_api import sync_playwright

    assert CHROMIUM is not None, "Chromium is missing: apt-get install chromium"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.getuid() == 0 else [])
        yield found
        found.close()
