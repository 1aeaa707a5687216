"""The table of docs/client.md: every method of the interface, and tests that exist."""

from __future__ import annotations

import re

from coordinator_server.client import Coordinator
from tests.support.server import ROOT

TABLE = re.search(r"\| method \|.*?\n\n", (ROOT / "docs/client.md").read_text(), re.DOTALL)
HERE = ("tests/unit/client", "tests/integration")


def rows() -> list[list[str]]:
    assert TABLE is not None
    return [line.split("|")[1:-1] for line in TABLE[0].splitlines()[2:] if line]


def test_every_method_has_a_rule() -> None:
    named = {name for method, *_ in rows() for name in re.findall(r"`(\w+)", method)}
    public = {name for name in vars(Coordinator) if not name.startswith("_")}

    assert public == named


def test_every_rule_has_a_test_that_exists() -> None:
    sources = "".join(path.read_text() for name in HERE for path in (ROOT / name).glob("test_*.py"))
    existing = set(re.findall(r"def (test_\w+)", sources))

    for method, rule, tests in rows():
        named = set(re.findall(r"`(test_\w+)`", tests))
        assert named, (method, rule)
        assert named <= existing, named - existing
