"""The page of a running server, and that of its directory when it is stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.runtime.partitioner import partition_for
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.members import Member, form_group
from tests.support.server import Server
from tests.support.simple_requests import make_topic, must_commit

GROUP = "readers"
# Nobody sends heartbeats: the members have to be there however long the tests take.
LONG_SESSION_MS = 1_800_000


class Site:
    """A server of two loops, and the address of its page."""

    def __init__(self, directory: Path) -> None:
        self.server = Server(directory, {"page.listener": "127.0.0.1:0", "group.initial.rebalance.delay.ms": 0}, loops=2)

    def lines(self) -> list[dict[str, Any]]:
        return list(map(json.loads, self.server.log().splitlines()))

    @property
    def address(self) -> str:
        [line] = [each for each in self.lines() if each["event"] == "page-listening"]
        found: str = line["address"]
        return found

    def ask(self, what: str) -> Any:
        with urllib.request.urlopen(f"{self.address}api/{what}", timeout=30) as answer:
            return json.load(answer)

    def group(self) -> Any:
        try:
            return self.ask(f"group?id={GROUP}")
        except urllib.error.HTTPError:
            return None


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("server"))
    with site.server:
        with Client(site.server.address) as client:
            make_topic(client, "orders", 4)
        form_group(site.server.address, GROUP, 2, session_timeout_ms=LONG_SESSION_MS)
        with Client(site.server.address) as client:
            must_commit(client, "simple", "orders", {0: 5})
        yield site


def test_what_happens_is_on_the_page_within_seconds(site: Site) -> None:
    """The list asks for status by itself: nobody indexes anything."""
    found = eventually(lambda: (each := site.group()) and each["members"] == 2 and each)

    assert (found["state"], found["type"]) == ("stable", "classic")
    picture = site.ask(f"picture?id={GROUP}")
    assert picture["marks"]["found"][-1]["kind"] == "rebalance"
    assert picture["known_until_ms"] >= picture["ends_ms"]
    at = site.ask(f"moment?id={GROUP}&at={picture['known_until_ms']}")
    assert at["member_count"] == 2


def test_the_status_says_that_the_server_runs(site: Site) -> None:
    with urllib.request.urlopen(f"{site.address}api/status", timeout=30) as answer:
        line = next(line for line in answer if line.startswith(b"data: ") and b'"is_served":true' in line)

    assert json.loads(line.removeprefix(b"data: "))["as_of_ms"] > 0


def test_a_rebalance_that_goes_on_says_whom_it_waits_for(site: Site) -> None:
    """The log of a classic group does not."""
    address = site.server.addresses[partition_for("late", 50) % 2]
    [member] = form_group(address, "late", 1, session_timeout_ms=LONG_SESSION_MS, rebalance_timeout_ms=LONG_SESSION_MS)
    Member(address, "late").start_join()
    member.await_rebalance()
    found = eventually(lambda: [each for each in site.ask("groups?q=state:rebalancing")["rows"] if each["group"] == "late"])

    assert "has not joined again" in found[0]["waits_for"]
    [wait] = site.ask("group?id=late")["waits"]
    assert (wait["member"], wait["host"]) == (member.member_id, "127.0.0.1")
    assert wait["until_ms"] > wait["since_ms"]


def test_what_is_behind_the_groups_is_told(site: Site) -> None:
    found = site.ask("log")

    assert [(each["loop"], each["stage"]) for each in found["loops"]] == [(0, "serving"), (1, "serving")]
    assert {each["loop"] for each in found["shards"]} <= {0, 1}
    assert {each["state"] for each in found["shards"]} == {"active"}
    assert found["unknown"] == ""
    assert {each["severity"] for each in site.ask("doctor")["findings"]} <= {"ok", "note", "warning", "problem"}


def test_what_the_process_logs_is_json_like_the_server_s_lines(site: Site) -> None:
    """The text of a package, too: here of who does not speak HTTP."""
    host, port = site.address.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(b"\x16\x03\x01 is no request\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 400")

    [said] = eventually(lambda: [each for each in site.lines() if each.get("logger") == "uvicorn.error"])
    assert (said["level"], said["event"]) == ("warning", "Invalid HTTP request received.")


def test_the_process_is_started_again(site: Site) -> None:
    """The address stays open: who connects waits for it."""
    children = Path(f"/proc/{site.server.pid}/task/{site.server.pid}/children").read_text().split()
    [process] = [int(each) for each in children if b"page" in Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")]

    os.kill(process, signal.SIGKILL)

    with urllib.request.urlopen(site.address, timeout=30) as answer:
        assert answer.status == 200
    assert "page-died" in site.server.log()


def test_the_directory_of_a_stopped_server_has_a_page(site: Site) -> None:
    """SIGTERM ends it. The server may start meanwhile: it holds nothing but while it reads."""
    site.server.stop()
    command = [
        sys.executable,
        "-m",
        "coordinator_server",
        "page",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        str(site.server.data_dir),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[2]
        try:

            def groups() -> Any:
                with urllib.request.urlopen(f"{address}api/groups?sort=members&desc=1", timeout=30) as answer:
                    return json.load(answer)["rows"]

            rows = eventually(lambda: found if len(found := groups()) == 3 else [])
            site.server.start()
        finally:
            process.terminate()

    assert [each["group"] for each in rows] == [GROUP, "late", "simple"]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["--listen", "0.0.0.0:9405"], 2, "this page has no login"),
        (["--listen", "9405"], 2, "not HOST:PORT"),
        (["--listen", "127.0.0.1:0"], 1, "is no data directory"),
    ],
)
def test_a_page_that_cannot_be_says_why(tmp_path: Path, words: list[str], code: int, why: str) -> None:
    command = [sys.executable, "-m", "coordinator_server", "page", "--data-dir", str(tmp_path), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == code
    assert why in done.stderr.splitlines()[-1]
