"""The programs of docs/clients.md are what they say: run side by side, through a kill of one of them and of the server."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import pytest

from tests.interop.clients import CONSUMERS, ConfluentAdmin
from tests.support.eventually import eventually
from tests.support.server import ROOT, Server

CLIENTS = (ROOT / "docs" / "clients.md").read_text()
SECTIONS = {section.partition("\n")[0]: section for section in CLIENTS.split("\n## ")[1:]}
PROGRAMS = {
    title: code
    for title, section in SECTIONS.items()
    for code in re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
}
TRANSACTION = "In a transaction"
GROUPS = {library: re.findall(r"readers-\d", PROGRAMS[library])[0] for library in CONSUMERS}
MOVED_TOGETHER = (("billing", "shipping"), ("billing-2", "shipping-2"))
# A second program with transactions, which has one open all the time.
BUSY = {"payments-1": "payments-2", "billing": "billing-2", "shipping": "shipping-2", "time.sleep(1)": "time.sleep(0.01)"}
# Sessions of seconds, so that a member that died is noticed while the test looks.
QUICKER = {
    "confluent-kafka": {'"readers-1"': '"readers-1", "session.timeout.ms": 3000, "heartbeat.interval.ms": 500'},
    "kafka-python": {'"readers-2"': '"readers-2", session_timeout_ms=3000, heartbeat_interval_ms=500'},
    "aiokafka": {'"readers-3"': '"readers-3", session_timeout_ms=3000, heartbeat_interval_ms=500'},
}
PARTITIONS = set(range(6))
# Long enough for clients to try again, and to find nobody.
DOWN_S = 2


class Copy:
    """One run of a program, with its output in a file."""

    def __init__(self, code: str, output: Path) -> None:
        self._output = output
        with output.open("wb") as file:
            self._process = subprocess.Popen([sys.executable, "-c", code], stdout=file, stderr=subprocess.STDOUT)

    def owned(self) -> set[int]:
        """The partitions of the last line that it printed."""
        lines = self._output.read_text().splitlines()
        assert self._process.poll() is None, "\n".join(lines)
        printed = [line for line in lines if line.startswith("{")]
        return set(ast.literal_eval(printed[-1])) if printed else set()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class Running:
    """Three copies of each consumer, and two programs with transactions, at a server of their own."""

    def __init__(self, server: Server, directory: Path) -> None:
        self.server = server
        self._directory = directory
        self._started: list[Copy] = []
        self.consumers = {library: [self.start(library, QUICKER[library]) for _ in range(3)] for library in CONSUMERS}
        self.transactions = [self.start(TRANSACTION, {}), self.start(TRANSACTION, BUSY)]

    def start(self, title: str, changes: Mapping[str, str]) -> Copy:
        code = PROGRAMS[title]
        for old, new in {"127.0.0.1:9092": self.server.bootstrap, **changes}.items():
            assert code.count(old) == 1
            code = code.replace(old, new)
        copy = Copy(code, self._directory / f"{len(self._started)}.txt")
        self._started.append(copy)
        return copy

    def kill(self) -> None:
        for copy in self._started:
            copy.kill()

    def owned(self) -> dict[str, list[set[int]]]:
        """What each copy says that it has. Fails if one has ended."""
        for copy in self.transactions:
            copy.owned()
        return {library: [copy.owned() for copy in copies] for library, copies in self.consumers.items()}

    def are_shared_out(self) -> bool:
        """Whether every partition has one owner in each group, and every copy has some."""
        return all(
            all(mine) and sorted(each for owned in mine for each in owned) == sorted(PARTITIONS) for mine in self.owned().values()
        )

    def positions(self) -> dict[str, dict[int, int]]:
        admin = ConfluentAdmin(self.server.bootstrap)
        return {group: admin.committed(group, "orders") for group in (*GROUPS.values(), *chain(*MOVED_TOGETHER))}

    def have_committed(self, since: Mapping[str, Mapping[int, int]]) -> bool:
        """Whether every partition of every group has moved."""
        self.owned()
        found = self.positions()
        are_whole = all(set(found[group]) == PARTITIONS for group in GROUPS.values()) and all(
            found[each] for each in chain(*MOVED_TOGETHER)
        )
        return are_whole and all(
            position > since.get(group, {}).get(partition, -1)
            for group, positions in found.items()
            for partition, position in positions.items()
        )


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """With the topic that `make run` declares; settled, and everything committed once."""
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        running = Running(server, tmp_path)
        try:
            eventually(running.are_shared_out, describe=running.owned)
            eventually(lambda: running.have_committed({}), describe=running.positions)
            yield running
        finally:
            running.kill()


def test_there_is_a_program_for_every_library() -> None:
    """docs/clients.md shows each client that the tests use, in about a dozen lines, and no program that is not run here;
    README.md shows one of them.
    """
    assert set(PROGRAMS) == {*CONSUMERS, TRANSACTION}
    assert CLIENTS.count("```python\n") == len(PROGRAMS)
    assert re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL) == [
        PROGRAMS["confluent-kafka"]
    ]
    assert all(len(code.splitlines()) <= 15 for code in PROGRAMS.values())


def test_the_programs_outlive_the_server(running: Running) -> None:
    """A consumer of each group dies, and then the server, in the middle of transactions:
    no position is lost, and all others go on.
    """
    before = running.positions()
    for copies in running.consumers.values():
        copies.pop().kill()
    running.server.kill()
    # Each client has its own times between two attempts to connect.
    time.sleep(DOWN_S)
    running.server.start()

    after = running.positions()
    assert all(after[group][partition] >= before[group][partition] for group in before for partition in before[group])
    # kafka-python waits up to 30 s between two attempts to connect.
    eventually(running.are_shared_out, describe=running.owned)
    eventually(lambda: running.have_committed(after), describe=running.positions)

    # What a program began before it dies is ended when its next copy begins, in both groups or in none.
    for copy in running.transactions:
        copy.kill()
    reached = running.positions()
    again = running.start(TRANSACTION, BUSY)
    eventually(lambda: min(running.positions()[group][0] - reached[group][0] for group in MOVED_TOGETHER[1]) > 0)
    again.kill()
    eventually(lambda: all(len({running.positions()[group][0] for group in pair}) == 1 for pair in MOVED_TOGETHER))
