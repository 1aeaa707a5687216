"""The tables of Kafka's tests (consumer_tests.md and its like) name scripts and tests that exist, or say why there is none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.differential.scripts import scripts_of

HERE: Final = Path(__file__).parent
WITHOUT_TEST: Final = ("does not apply: ", "not here: ")
ROWS: Final = [
    (prefix, *(cell.strip() for cell in line.strip("|").split("|")))
    for prefix in ("consumer", "share", "streams")
    for line in (HERE / f"{prefix}_tests.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| Kafka's test")
]


def exists(prefix: str, named: str) -> bool:
    """Whether there is such a script or such a path."""
    if named.startswith("`"):
        return (HERE / named.strip("`")).exists()
    book, _, title = re.sub(r" \([^()]*\)$", "", named).partition(": ")
    titles = [script.title.partition(": ")[2] for script in scripts_of(f"{prefix}_{book}")]
    beginning = title.removesuffix("…")
    return any(each.startswith(beginning) if beginning != title else each == title for each in titles)


@pytest.mark.parametrize(("prefix", "names", "tests"), ROWS, ids=[names[:60] for _, names, _ in ROWS])
def test_the_scripts_of_a_row_exist(prefix: str, names: str, tests: str) -> None:
    """A script by its file and title, any other test by its path. What is in parentheses is a remark."""
    if not tests.startswith(WITHOUT_TEST):
        assert names
        assert [each for each in tests.split("; ") if not exists(prefix, each)] == []
