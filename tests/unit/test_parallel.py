"""Files are given to processes whole, long ones first; what a process dies of is not run again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.parallel import UnitScheduling, in_order, unit_of

ROOT = Path(__file__).parents[2]
COLLECTION = ["a.py::1", "a.py::2", "a.py::3", "b.py::1", "c.py::1", "c.py::2", "tests/spark/x.py::1", "tests/spark/y.py::1"]
NOTHING: list[str] = []


class Process:
    """A worker, as the scheduler sees it; ``run`` is what it was sent."""

    def __init__(self) -> None:
        self.run: list[str] = []
        self.shutting_down = False

    def send_runtest_some(self, places: Sequence[int]) -> None:
        self.run += [COLLECTION[place] for place in places]

    def shutdown(self) -> None:
        self.shutting_down = True


@pytest.fixture
def scheduling() -> UnitScheduling:
    config: Any = SimpleNamespace(option=SimpleNamespace(numprocesses=2, tx=[]))
    return UnitScheduling(config)


@pytest.fixture
def processes(scheduling: UnitScheduling) -> tuple[Process, Process]:
    """Two that have begun."""
    pair = Process(), Process()
    for process in pair:
        scheduling.add_node(process)
    for process in pair:
        assert not scheduling.collection_is_completed
        scheduling.add_node_collection(process, COLLECTION)
    scheduling.schedule()
    return pair


def finish(scheduling: UnitScheduling, process: Process, *nodeids: str) -> None:
    for nodeid in nodeids:
        scheduling.mark_test_complete(process, COLLECTION.index(nodeid))


def test_units() -> None:
    """A file, or a directory whose tests share what is dear."""
    assert unit_of("tests/unit/test_x.py::Case::test[a/b::c]") == "tests/unit/test_x.py"
    assert unit_of("tests/spark/test_x.py::test") == "tests/spark"


def test_long_test_files_are_started_first() -> None:
    """In the order of the table, and otherwise as collected."""
    units = ["tests/unit/test_z.py", "tests/unit/test_a.py", "tests/interop/test_x.py", "tests/spark"]

    assert in_order(units) == ["tests/spark", "tests/interop/test_x.py", "tests/unit/test_z.py", "tests/unit/test_a.py"]


def test_the_next_unit_comes_with_the_last_test_of_the_one_before(
    scheduling: UnitScheduling, processes: tuple[Process, Process]
) -> None:
    """A process runs a test when it knows the next, and so the last one when it knows that there is none."""
    one, other = processes
    assert (one.run, other.run) == (COLLECTION[6:], COLLECTION[:3])
    assert (scheduling.tests_finished, scheduling.has_pending) == (False, True)

    finish(scheduling, one, "tests/spark/x.py::1")
    assert one.run[2:] == ["b.py::1"]
    finish(scheduling, other, "a.py::1")
    assert other.run[3:] == NOTHING
    finish(scheduling, other, "a.py::2")
    assert other.run[3:] == ["c.py::1", "c.py::2"]

    finish(scheduling, one, "tests/spark/y.py::1", "b.py::1")
    finish(scheduling, other, "a.py::3", "c.py::1")
    assert one.shutting_down
    assert other.shutting_down
    assert (scheduling.tests_finished, scheduling.has_pending) == (True, True)
    finish(scheduling, other, "c.py::2")
    assert (scheduling.tests_finished, scheduling.has_pending) == (True, False)
    assert scheduling.remove_node(one) is None


def test_a_test_that_a_process_dies_of_is_not_run_again(scheduling: UnitScheduling, processes: tuple[Process, Process]) -> None:
    """What came after it is, by the next that has time."""
    one, other = processes
    finish(scheduling, other, "a.py::1")

    assert scheduling.remove_node(other) == "a.py::2"
    finish(scheduling, one, "tests/spark/x.py::1")
    assert one.run[2:] == ["a.py::3"]


def test_a_process_that_takes_a_dead_ones_place(scheduling: UnitScheduling, processes: tuple[Process, Process]) -> None:
    """It is given nothing before it has collected."""
    scheduling.remove_node(processes[1])
    third = Process()
    scheduling.add_node(third)
    scheduling.schedule()
    assert third.run == NOTHING

    scheduling.add_node_collection(third, COLLECTION)
    scheduling.schedule()
    assert third.run == ["a.py::2", "a.py::3"]


def test_processes_that_collect_different_tests(scheduling: UnitScheduling) -> None:
    """Places in the collection would mean something else in each."""
    for collection in (COLLECTION, COLLECTION[1:]):
        process = Process()
        scheduling.add_node(process)
        scheduling.add_node_collection(process, collection)

    with pytest.raises(RuntimeError, match="different tests"):
        scheduling.schedule()


CONFTEST = "from tests.conftest import pytest_sessionfinish, pytest_xdist_make_scheduler"
INI = f"""
[pytest]
pythonpath = {ROOT}
addopts = -p no:cacheprovider -p no:asyncio
faulthandler_timeout = 1
faulthandler_exit_on_timeout = true
"""
HANGS = """
import time
def test_before(): pass
def test_that_hangs(): time.sleep(60)
def test_after(): pass
"""
SKIPS = """
import pytest
def test_one(): pass
def test_without(): pytest.skip("no java on the PATH")
"""


def run(directory: Path, environment: dict[str, str], **files: str) -> subprocess.CompletedProcess[str]:
    """pytest in two processes."""
    for name, content in {"conftest": CONFTEST, **files}.items():
        (directory / f"{name}.py").write_text(content)
    (directory / "pytest.ini").write_text(INI)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "."]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=200, check=False)


@pytest.fixture
def environment() -> dict[str, str]:
    """Of a run within this one."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "CI"))}


def test_a_test_that_hangs_fails_with_stacks(tmp_path: Path, environment: dict[str, str]) -> None:
    """Its process ends, and another runs the rest of its file."""
    done = run(tmp_path, environment, test_hangs=HANGS, test_skips=SKIPS)

    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("1 failed, 3 passed, 1 skipped in ")
    assert "crashed while running 'test_hangs.py::test_that_hangs'" in done.stdout
    assert "in test_that_hangs" in done.stderr


@pytest.mark.parametrize(("words", "code"), [({}, 0), ({"CI": "true"}, 1)])
def test_under_ci_nothing_is_optional(tmp_path: Path, environment: dict[str, str], words: dict[str, str], code: int) -> None:
    """In several processes, too, a test that is skipped fails the run there."""
    done = run(tmp_path, environment | words, test_skips=SKIPS, test_too="def test_two(): pass")

    assert done.returncode == code
    assert done.stdout.splitlines()[-1].startswith("2 passed, 1 skipped in ")
    assert ("CI: skipped, so failed: test_skips.py::test_without" in done.stdout) == bool(code)
