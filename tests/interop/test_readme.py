"""The examples of README.md are what they say: run as they stand, three times side by side."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.clients import CONSUMERS, ConfluentAdmin
from tests.support.eventually import eventually
from tests.support.server import ROOT, Server

EXAMPLE = re.compile(r"^### (?P<library>\S+)\n\n```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = {found["library"]: found["code"] for found in EXAMPLE.finditer((ROOT / "README.md").read_text())}


@pytest.fixture
def bootstrap(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A server with the topic that `make run` declares."""
    if given := request.config.getoption("--bootstrap"):
        if not ConfluentAdmin(given).partitions_of("orders"):
            ConfluentAdmin(given).create_topic("orders", 6)
        yield given
        return
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        yield server.bootstrap


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


def test_the_example_shares_six_partitions(library: str, bootstrap: str, tmp_path: Path) -> None:
    """Three copies print every partition of the topic exactly once, and commit what they own."""
    code = EXAMPLES[library].replace("127.0.0.1:9092", bootstrap)
    copies = [Copy(code, tmp_path / f"copy-{number}.txt") for number in range(3)]
    try:
        eventually(
            lambda: (
                sorted(one for copy in copies for one in copy.owned()) == [0, 1, 2, 3, 4, 5]
                and all(copy.owned() for copy in copies)
            )
        )
        [group] = set(re.findall(r"readers-\d", code))
        eventually(lambda: set(ConfluentAdmin(bootstrap).committed(group, "orders")) == {0, 1, 2, 3, 4, 5})
    finally:
        for copy in copies:
            copy.process.kill()
            copy.process.wait()
