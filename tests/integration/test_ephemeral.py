"""``serve --ephemeral``: the server for tests of any language. It says where it is, obeys its stdin, and ends with its parent."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from coordinator_server.cli import main
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.processes import is_alive
from tests.support.server import ROOT
from tests.support.simple_requests import must_commit

SERVE = [sys.executable, "-m", "coordinator_server", "serve", "--ephemeral"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


class Ephemeral:
    """A server that this process has started."""

    def __init__(self, directory: Path, *words: str, stdin: int = subprocess.PIPE) -> None:
        self.process = subprocess.Popen(
            [*SERVE, *words], stdin=stdin, stdout=subprocess.PIPE, text=True, cwd=directory, env=ENVIRONMENT
        )
        self.ready = json.loads(of(self.process.stdout).readline())

    @property
    def address(self) -> tuple[str, int]:
        return parsed(self.ready)

    def say(self, line: str) -> dict[str, Any]:
        of(self.process.stdin).write(line + "\n")
        of(self.process.stdin).flush()
        answer: dict[str, Any] = json.loads(of(self.process.stdout).readline())
        return answer

    def ask(self, **request: object) -> dict[str, Any]:
        return self.say(json.dumps(request))

    def end(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        self.process.kill()
        self.process.wait()


def of(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def parsed(ready: dict[str, Any]) -> tuple[str, int]:
    host, _, port = ready["bootstrap_servers"].rpartition(":")
    return host, int(port)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ephemeral")


@pytest.fixture(scope="module")
def server(directory: Path) -> Iterator[Ephemeral]:
    """For all tests here but those of its end. They use groups of their own."""
    started = Ephemeral(directory, "--override", "topics=orders:3")
    yield started
    started.end()


def test_an_ephemeral_server_prints_its_address_first(server: Ephemeral, directory: Path) -> None:
    """In one line, before anything else; and it leaves no file."""
    assert list(server.ready) == ["bootstrap_servers", "pid", "cluster_id", "listeners"]
    assert server.ready["pid"] == server.process.pid
    assert server.address[0] == "127.0.0.1"
    with Client(server.address) as client:
        must_commit(client, "readers", "orders", {0: 5})

    assert server.ask(op="committed", group="readers") == {
        "ok": True,
        "offsets": [{"topic": "orders", "partition": 0, "offset": 5, "metadata": ""}],
    }
    assert list(directory.iterdir()) == []


def test_an_ephemeral_server_prints_what_it_advertises(directory: Path) -> None:
    """In a container it listens on an address that nobody outside can reach. A restart keeps what it is bound to."""
    server = Ephemeral(directory, "--listen", "0.0.0.0:0", "--override", "advertised.listeners=coordinator.example:19092")
    try:
        assert server.ready["bootstrap_servers"] == "coordinator.example:19092"
        assert server.ready["listeners"] == {"PLAINTEXT": "coordinator.example:19092"}
        assert server.ask(op="restart") == {"ok": True}
    finally:
        server.end()


def test_it_obeys_its_stdin(server: Ephemeral) -> None:
    """Time and faults for any language."""
    [member] = form_group(server.address, "orders", 1, session_timeout_ms=45_000)

    def group() -> dict[str, Any]:
        [found] = [each for each in server.ask(op="groups")["groups"] if each["group_id"] == "orders"]
        return dict(found)

    assert (group()["state"], group()["members"][0]["member_id"]) == ("Stable", member.member_id)
    assert server.ask(op="fail-next", api="Heartbeat", error="NOT_COORDINATOR") == {"ok": True}
    assert member.heartbeat().name == "NOT_COORDINATOR"
    assert server.ask(op="create-topic", topic="payments", partitions=2) == {"ok": True}
    assert server.ask(op="advance", seconds=46) == {"ok": True}
    assert group()["state"] == "Empty"
    assert server.ask(op="restart") == {"ok": True}
    assert group()["state"] == "Empty"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "not a JSON object on a line"),
        ("{}", "unknown op; there are: advance, clear-faults, committed, create-topic, delay, disconnect, end, fail-next, fence"),
        ('{"op": "advance"}', "advance: Object missing required field `seconds`"),
        ('{"op": "advance", "seconds": -1}', "time does not go back"),
        ('{"op": "delay", "api": "Heartbeat", "second": 1}', "unknown field `second`"),
        ('{"op": "rebalance", "group": "none"}', "there is no group none"),
    ],
)
def test_a_wrong_request_is_answered_with_what_is_right(server: Ephemeral, line: str, said: str) -> None:
    answer = server.say(line)

    assert (answer["ok"], said in answer["error"]) == (False, True), answer


def test_an_ephemeral_server_ends_when_its_stdin_closes(directory: Path) -> None:
    """Which is how it ends with a parent that is killed. Clients that are connected do not keep it."""
    server = Ephemeral(directory, "--override", "topics=orders:3")
    with Client(server.address) as client:
        must_commit(client, "readers", "orders", {0: 5})
        of(server.process.stdin).close()

        assert server.process.wait(30) == 0
    assert of(server.process.stdout).read() == ""
    server.end()


def test_an_ephemeral_server_ends_with_its_parent_process() -> None:
    """Also with a stdin that says nothing of it: a process that Go starts has /dev/null there by default."""
    code = f"import subprocess; subprocess.Popen({SERVE!r}, stdin=subprocess.DEVNULL); input()"
    parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    ready = json.loads(of(parent.stdout).readline())
    Client(parsed(ready)).close()

    parent.kill()
    parent.wait()

    eventually(lambda: not is_alive(ready["pid"]))
    of(parent.stdin).close()
    of(parent.stdout).close()


def test_an_ephemeral_server_without_a_pipe_ends_with_a_signal(directory: Path) -> None:
    """Not before, if its stdin is no pipe."""
    server = Ephemeral(directory, stdin=subprocess.DEVNULL)
    Client(server.address).close()
    server.process.send_signal(signal.SIGTERM)

    assert server.process.wait(30) == 0
    server.end()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ephemeral", "--data-dir", "data"], "--ephemeral keeps its log in memory, so it takes no --data-dir"),
        (["--ephemeral", "--loops", "2"], "--ephemeral has one loop"),
        (["--ephemeral", "--override", "loops=2"], "a server for tests has one loop"),
        (["--ephemeral", "--override", "nonsense=1"], "unknown property nonsense"),
        (["--ephemeral", "--listen", "nowhere"], "--listen takes HOST:PORT"),
        ([], "--data-dir DIR is required, or the property log.dirs; without a log to keep, --ephemeral"),
    ],
)
def test_an_ephemeral_server_refuses_options_that_it_cannot_have(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = subprocess.run(
            [*SERVE, "--listen", f"127.0.0.1:{port}"],
            input="",
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=ENVIRONMENT,
            check=False,
        )

    assert ended.returncode == 1
    assert (
        ended.stderr
        == f"coordinator-server: cannot listen on 127.0.0.1:{port}: Address already in use: is another server there?\n"
    )
