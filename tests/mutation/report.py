"""What a run prints: a line for each mutant, the survivors as diffs, and the ratio of each package."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tests.mutation.trying import Result


def progress(number: int, total: int, result: Result) -> str:
    mutant = result.mutant
    what = f"{mutant['path']}:{mutant['line']} {mutant['family']}"
    by = f" by {result.by}" if result.by else ""
    cut = " (out of time)" if result.is_cut_short and result.status == "survived" else ""
    return f"{number:4}/{total} {result.status:10} {result.seconds:6.1f} s  {what}{by}{cut}"


def difference(result: Result) -> str:
    """A survivor: where it is, what changed, and how many tests did not notice."""
    mutant = result.mutant
    tests = "no test runs this line" if result.status == "uncovered" else f"{result.ran} of {result.chosen} tests ran and passed"
    lines = [f"{mutant['path']}:{mutant['line']} in {mutant['function'] or 'the module'}: {mutant['family']}; {tests}"]
    lines += [f"-{line}" for line in mutant["before"].splitlines()]
    lines += [f"+{line}" for line in mutant["after"].splitlines()]
    return "\n".join(lines)


def table(results: list[Result]) -> str:
    """A row for each package, and one for all."""
    rows: list[tuple[str, ...]] = [("package", "drawn", "equivalent", "killed", "hung", "survived", "uncovered", "ratio")]
    by_package: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_package[result.mutant["package"]].append(result)
    for name, some in sorted(by_package.items()):
        rows.append(_row(name, some))
    rows.append(_row("all", results))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if not place else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _row(name: str, results: list[Result]) -> tuple[str, ...]:
    count = {
        status: sum(result.status == status for result in results)
        for status in ("equivalent", "killed", "hung", "survived", "uncovered")
    }
    value = ratio(results)
    return name, str(len(results)), *map(str, count.values()), "-" if value is None else f"{value:.0%}"


def ratio(results: list[Result]) -> float | None:
    """Killed among those that mean something else; None if there are none."""
    judged = [result for result in results if result.status not in ("equivalent", "broken")]
    return sum(result.is_killed for result in judged) / len(judged) if judged else None


def below(results: list[Result], least: float) -> list[str]:
    """Packages with a smaller ratio than `least`, in percent."""
    by_package: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_package[result.mutant["package"]].append(result)
    found = {name: ratio(some) for name, some in by_package.items()}
    return sorted(name for name, value in found.items() if value is not None and value * 100 < least)


def as_json(results: list[Result]) -> list[dict[str, Any]]:
    return [vars(result) for result in results]
