"""The tables of Kafka's tests in tests/scenarios/README.md: each row names tests that exist, or says why there is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).parents[1] / "scenarios"
WITHOUT_TEST = ("does not apply: ", "not here: ")
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in (SCENARIOS / "README.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| Kafka's test")
]


@pytest.mark.parametrize(("names", "tests"), ROWS, ids=[names[:60] for names, _ in ROWS])
def test_the_tests_of_a_row_exist(names: str, tests: str) -> None:
    """A transcript by its name, any other test by its path. What is in parentheses is a remark."""
    if not tests.startswith(WITHOUT_TEST):
        found = re.sub(r" \((?:[^()]|\([^()]*\))*\)", "", tests).split(", ")

        assert names
        assert [each for each in found if not _path(each).is_file()] == []


def _path(named: str) -> Path:
    return SCENARIOS / (named.strip("`") if named.startswith("`") else f"{named}.txt")
