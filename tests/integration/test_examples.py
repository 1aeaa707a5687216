"""The commands of examples/*/README.md do what is printed there."""

from __future__ import annotations

import queue
import re
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.eventually import eventually
from tests.support.ports import free_port
from tests.support.server import ROOT

COORDINATOR = "127.0.0.1:9092"


class Program:
    """A command of a README, with an address of this test's own."""

    def __init__(self, command: str) -> None:
        words = shlex.split(command)
        first = [sys.executable, "-m", "coordinator_server"] if words[0] == "coordinator-server" else [sys.executable]
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process = subprocess.Popen([*first, *words[1:]], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def until(self, pattern: str) -> re.Match[str]:
        """Return the next line that matches."""
        while True:
            line = self.lines.get(timeout=60)
            if found := re.match(pattern, line):
                return found

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.put(line)


class Readme:
    """The commands of an example: the first one starts the coordinator."""

    def __init__(self, name: str, data_dir: Path, moved: dict[str, str]) -> None:
        text = (ROOT / "examples" / name / "README.md").read_text()
        own = {COORDINATOR: f"127.0.0.1:{free_port()}", "./data": str(data_dir)} | moved
        self.commands = re.findall(r"^    ((?:coordinator-server|python) .*)$", text, re.MULTILINE)
        for old, new in own.items():
            self.commands = [command.replace(old, new) for command in self.commands]
        self._started: list[Program] = []
        self.start(0).until("coordinator-server ready")

    def start(self, number: int) -> Program:
        self._started.append(Program(self.commands[number]))
        return self._started[-1]

    def end(self) -> None:
        for program in reversed(self._started):
            program.kill()


@pytest.fixture
def readme(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Readme]:
    """The README of the example that the test is named for."""
    ports = {f"127.0.0.1:{port}": f"127.0.0.1:{free_port()}" for port in (7001, 7002)}
    found = Readme(request.node.originalname.removeprefix("test_"), tmp_path / "data", ports)
    yield found
    found.end()


def test_cron(readme: Readme) -> None:
    """One runs; when it is killed, the other one goes on with the next number and a higher token."""
    first = readme.start(1)
    found = first.until(r"first: run (\d+) \(token (\d+)\)")
    second = readme.start(2)
    first.until(r"first: run 2")
    first.kill()
    run, token = second.until(r"second: run (\d+) \(token (\d+)\)").groups()

    assert int(run) >= 2
    assert int(token) > int(found[2])


def test_crawler(readme: Readme) -> None:
    """Sites are shared, and go on where they stopped."""
    first = readme.start(1)
    first.until(r"first: gamma.example page 1")
    second = readme.start(2)
    site, page = second.until(r"second: (\S+) page (\d+)").groups()
    assert int(page) > 1
    last = int(second.until(rf"second: {site} page (\d+)")[1])
    second.kill()
    went_on = int(first.until(rf"first: {site} page ({last + 1}|{last + 2}|{last + 3}|{last + 4})\b")[1])

    assert went_on > last


def test_cache(readme: Readme) -> None:
    """A key is found at whichever server is asked."""
    addresses = [command.split()[-1] for command in readme.commands[1:3]]
    servers = [readme.start(1), readme.start(2)]
    for server in servers:
        server.until(rf"\S+: servers are {' '.join(sorted(addresses))}")
    keys = [f"key-{i}" for i in range(8)]
    for i, key in enumerate(keys):
        assert ask(addresses[i % 2], f"SET {key} {i} green") == "stored"

    assert [ask(address, f"GET {key}") for key in keys for address in addresses] == [
        f"{i} green" for i in range(8) for _ in (0, 1)
    ]
    assert ask(addresses[0], "GET other") == "unknown"


def ask(address: str, line: str) -> str:
    host, _, port = address.rpartition(":")
    with eventually(lambda: socket.create_connection((host, int(port)), 10)) as peer:
        peer.sendall(line.encode() + b"\n")
        with peer.makefile() as answer:
            return answer.readline().strip()
