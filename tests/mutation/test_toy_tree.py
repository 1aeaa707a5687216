"""All of `make mutants` on a small tree: one mutant is killed, one survives, one hangs, one is run by no test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutation import drawing, equivalents, report, worker
from tests.mutation.coverage_map import CoverageMap
from tests.mutation.mutants import Mutant
from tests.mutation.trying import Result, Trial

PATH = "coordinator_server/toy/counting.py"
CODE = '''\
"""Counts."""

def is_large(number):
    return number >= 10

def count_down(number):
    steps = 0
    while number:
        number -= 1
        steps += 1
    return steps

def never(number):
    return number + 1

def started():
    import os
    import sys
    sys.exit(3)
'''
TESTS = """\
import os
import subprocess
import sys

from coordinator_server.toy.counting import count_down, is_large

def test_large():
    assert is_large(20)

def test_not_large():
    assert not is_large(1)

def test_count():
    assert count_down(3) == 3

def test_in_another_process():
    code = "from coordinator_server.toy.counting import started; started()"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 3
"""
SETTINGS = """\
[tool.pytest.ini_options]
addopts = ["-q", "--import-mode=importlib"]
pythonpath = ["."]
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("toy")
    for name, text in {
        PATH: CODE,
        "tests/unit/toy/test_counting.py": TESTS,
        "pyproject.toml": SETTINGS,
        ".gitignore": "build\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "coordinator_server/__init__.py").touch()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@pytest.fixture(scope="module")
def measured(root: Path) -> CoverageMap:
    environment = pytest.MonkeyPatch()
    for name in [name for name in os.environ if name.startswith(("PYTEST_", "COVERAGE_"))]:
        environment.delenv(name)
    coverage = CoverageMap(root, root / "build")
    assert coverage.measure(coverage.stale(), 1) == []
    environment.undo()
    return coverage


@pytest.fixture(scope="module")
def results(root: Path, measured: CoverageMap) -> Iterator[dict[str, Result]]:
    patience = pytest.MonkeyPatch()
    patience.setenv(worker.PATIENCE_VARIABLE, "6")
    mutants = [
        mutant("return number >= 10", "return number > 10"),
        mutant("steps += 1", "pass"),
        mutant("number -= 1", "pass"),
        mutant("return number + 1", "return number - 1"),
        mutant("sys.exit(3)", "pass"),
    ]
    found = Trial(root, root / "build", measured, 30).run(mutants, 2)
    yield {result.mutant["before"].strip(): result for result in found}
    patience.undo()


def mutant(before: str, after: str) -> Mutant:
    made = (drawing.mutant(site, CODE) for site in drawing.sites(PATH, CODE))
    return next(each for each in made if each and (each.before.strip(), each.after.strip()) == (before, after))


def test_a_mutant_that_a_test_notices_is_killed(results: dict[str, Result]) -> None:
    result = results["steps += 1"]

    assert (result.status, result.by) == ("killed", "tests/unit/toy/test_counting.py::test_count")
    assert "0 == 3" in result.why


def test_a_mutant_that_no_test_notices_survives(results: dict[str, Result]) -> None:
    result = results["return number >= 10"]

    assert (result.status, result.chosen, result.ran) == ("survived", 2, 2)
    assert "2 of 2 tests ran and passed\n-    return number >= 10\n+    return number > 10" in report.difference(result)


def test_a_mutant_without_an_end_is_told_apart(results: dict[str, Result]) -> None:
    assert results["number -= 1"].status == "hung"


def test_a_line_that_no_test_runs_is_said_to_be(results: dict[str, Result]) -> None:
    assert results["return number + 1"].status == "uncovered"


def test_a_line_that_runs_in_another_process_has_its_test(results: dict[str, Result]) -> None:
    """Where its child imports the changed file too."""
    result = results["sys.exit(3)"]

    assert (result.status, result.by) == ("killed", "tests/unit/toy/test_counting.py::test_in_another_process")


def test_the_tree_is_left_as_it_was(root: Path, results: dict[str, Result]) -> None:
    assert (root / PATH).read_text() == CODE
    assert (root / "build/trees/1" / PATH).read_text() == CODE


def test_a_run_that_is_given_up_leaves_nothing_running(root: Path, measured: CoverageMap) -> None:
    """And the next one begins with the tree as it is."""
    given_up = Trial(root, root / "build", measured, 30).run([mutant("steps += 1", "pass"), mutant("number -= 1", "pass")], 1)
    assert next(given_up).status == "killed"

    given_up.close()

    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert "tests.mutation.worker" not in "".join(Path(f"/proc/{child}/cmdline").read_text() for child in children)
    again = Trial(root, root / "build", measured, 30).run([mutant("return number >= 10", "return number > 10")], 1)
    assert next(again).status == "survived"
    assert (root / "build/trees/0" / PATH).read_text() == CODE


def test_the_table_counts_by_package(results: dict[str, Result]) -> None:
    some = [*results.values(), Result({"package": "toy"}, "equivalent"), Result({"package": "other"}, "killed")]

    assert report.ratio(list(results.values())) == 3 / 5
    assert report.below(some, 90) == ["toy"]
    assert report.table(some).splitlines()[2].split() == ["toy", "6", "1", "2", "1", "1", "1", "60%"]


def test_a_judged_equivalent_is_known_where_its_line_is_now(tmp_path: Path) -> None:
    judged = tmp_path / "equivalents.toml"
    judged.write_text(
        f"""[[equivalent]]
file = "{PATH}"
function = "is_large"
before = "return number  >= 10"
after = "return number > 10"
reason = "Nobody counts to ten."
"""
    )

    known = equivalents.load(judged)
    assert known[mutant("return number >= 10", "return number > 10").key()] == "Nobody counts to ten."
    assert mutant("steps += 1", "pass").key() not in known
