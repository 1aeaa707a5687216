"""The listed differences and docs/differences.md are one table."""

from __future__ import annotations

import re
from pathlib import Path

from tests.differential.known_differences import KNOWN
from tests.differential.scripts import recorded

TABLE = Path(__file__).parents[2] / "docs" / "differences.md"
ROW = re.compile(r"^\| (\d+) \| (.*?) \|.*\| (.*?) \|$", re.MULTILINE)


def rows() -> dict[int, tuple[str, str]]:
    """By number, when a difference shows, and how it is known."""
    return {int(number): (when, how) for number, when, how in ROW.findall(TABLE.read_text())}


def test_every_known_difference_has_a_script_that_shows_it() -> None:
    """By a script that fails when it is not there any more."""
    seen = {number for number, (_, how) in rows().items() if how.startswith("seen")}

    assert seen <= KNOWN.keys()


def test_what_is_looked_for_is_listed() -> None:
    """In the same words, and as seen unless it is meant."""
    listed = {number: when for number, (when, how) in rows().items() if how in {"seen", "by design"}}

    assert {number: known.when for number, known in KNOWN.items()} == {number: listed.get(number) for number in KNOWN}


def test_every_difference_has_a_script() -> None:
    """Which fails when the difference does not show any more."""
    shown = frozenset().union(*(script.differs for script in recorded()))

    assert shown == KNOWN.keys()
