"""The examples of README.md are what they say: run as they stand, three times side by side."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.interop.clients import CONSUMERS, ConfluentAdmin
from tests.support.eventually import eventually
from tests.support.server import ROOT, Server

EXAMPLE = re.compile(r"^### (?P<library>\S+)\n\n```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = {found["library"]: found["code"] for found in EXAMPLE.finditer((ROOT / "README.md").read_text())}


TRANSACTION = re.search(
    r"^### In a transaction\n.*?^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
)


class Copy:
    """One run of an example, with its output in a file."""

    def __init__(self, code: str, output: Path) -> None:
        self._output = output
        with output.open("wb") as file:
            self.process = subprocess.Popen([sys.executable, "-c", code], stdout=file, stderr=subprocess.STDOUT)

    def owned(self) -> set[int]:
        """The partitions of the last line that it printed."""
        lines = self._output.read_text().splitlines()
        assert self.process.poll() is None, "\n".join(lines)
        printed = [line for line in lines if line.startswith("{")]
        return set(ast.literal_eval(printed[-1])) if printed else set()


def test_there_is_an_example_for_every_library() -> None:
    """README.md shows each client that the tests use, in about ten lines."""
    assert set(EXAMPLES) == set(CONSUMERS)
    assert all(len(code.splitlines()) <= 12 for code in EXAMPLES.values())


@pytest.fixture
def copies(library: str, server: Server, tmp_path: Path) -> Iterator[list[Copy]]:
    """Three runs of the example, side by side, settled."""
    code = EXAMPLES[library].replace("127.0.0.1:9092", server.bootstrap)
    copies = [Copy(code, tmp_path / f"copy-{number}.txt") for number in range(3)]
    try:
        eventually(lambda: is_shared_out(copies), describe=lambda: [copy.owned() for copy in copies])
        yield copies
    finally:
        for copy in copies:
            copy.process.kill()
            copy.process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """With the topic that `make run` declares."""
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        yield server


def is_shared_out(copies: list[Copy]) -> bool:
    return all(copy.owned() for copy in copies) and sorted(one for copy in copies for one in copy.owned()) == [0, 1, 2, 3, 4, 5]


def positions(library: str, server: Server) -> dict[int, int]:
    [group] = set(re.findall(r"readers-\d", EXAMPLES[library]))
    admin = ConfluentAdmin(server.bootstrap)
    return admin.committed(group, "orders")


def test_the_example_does_what_the_readme_says(library: str, server: Server, copies: list[Copy]) -> None:
    """Three copies share the partitions and commit all of them; kill -9 and a new start lose no position, and they go on by themselves."""
    eventually(lambda: set(positions(library, server)) == {0, 1, 2, 3, 4, 5})
    before = positions(library, server)

    server.kill()
    server.start()

    after = positions(library, server)
    assert all(after[partition] >= position for partition, position in before.items())

    def positions_since() -> dict[int, int]:
        return {partition: position - after[partition] for partition, position in positions(library, server).items()}

    # kafka-python waits up to 30 s between two attempts to connect.
    eventually(lambda: min(positions_since().values()) > 0, within_s=60, describe=positions_since)
    assert is_shared_out(copies)


def test_the_groups_of_a_transaction_move_together(server: Server, tmp_path: Path) -> None:
    """Over a kill -9 of the server in the middle of it, too. A second copy of the program takes the transactional id over."""
    assert TRANSACTION is not None
    code = TRANSACTION[1].replace("127.0.0.1:9092", server.bootstrap).replace("time.sleep(1)", "time.sleep(0.01)")
    reached = 0

    def moved() -> list[int]:
        admin = ConfluentAdmin(server.bootstrap)
        return [admin.committed(group, "orders").get(0, -1) for group in ("billing", "shipping")]

    def is_past(offset: int) -> bool:
        return min(moved()) > offset

    for number in range(2):
        copy = Copy(code, tmp_path / f"transactions-{number}.txt")
        try:
            eventually(partial(is_past, reached))
            server.kill()
        finally:
            copy.process.kill()
            copy.process.wait()
        server.start()
        # What was decided before the kill, and not written in both groups, follows after the start.
        eventually(lambda: len(set(moved())) == 1)
        [reached] = set(moved())
