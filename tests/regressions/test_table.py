"""The table in README.md names every bug of the list, and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
SCENARIOS = HERE.parent / "scenarios" / "regressions.txt"
BUGS = (
    *(
        "KAFKA-13636",
        "KAFKA-8338",
        "KAFKA-8500",
        "KAFKA-9801",
        "KAFKA-9752",
        "KAFKA-9844",
        "KAFKA-9885",
        "KAFKA-8069",
        "KAFKA-15910",
    ),
    *("KAFKA-16030", "KAFKA-16106", "KAFKA-16770", "KAFKA-19862", "KAFKA-17306", "KAFKA-20845", "apache/kafka#23542"),
    *("apache/kafka#4788", "librdkafka#5569", "redpanda #4900", "redpanda #12931", "redpanda #3300"),
)
NOT_FOUND = {"apache/kafka#23542"}


def test_every_bug_has_its_row_and_its_tests() -> None:
    """Scenarios are found by their titles, functions by their names; each that is named for a bug is in the table."""
    rows = {cells[0]: cells[3] for line in (HERE / "README.md").read_text().splitlines() if len(cells := _cells(line)) == 4}
    titles = re.findall(r"^== ([^:]+):", SCENARIOS.read_text(), re.MULTILINE)
    functions = {f"{path.name}::{name}" for path in HERE.glob("test_*.py") for name in _functions(path)}
    named = {name for tests in rows.values() for name in re.findall(r"`(test_[^`]+)`", tests)}

    assert set(BUGS) == rows.keys() - {"bug", "---"}
    for bug in set(BUGS) - NOT_FOUND:
        scenarios = re.search(r"scenario(?: \((\d)\))?", rows[bug])
        assert titles.count(bug) == (0 if scenarios is None else int(scenarios[1] or 1)), bug
        assert titles.count(bug) or "`test_" in rows[bug], bug
    assert named == {name for name in functions if "::test_every_bug" not in name}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")[1:-1]]


def _functions(path: Path) -> list[str]:
    return re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
