"""A pytest plugin that notes which lines each test runs, in this process and in those that it starts.

Coverage measures: it has begun already, by ``COVERAGE_PROCESS_START`` (tests/mutation/coverage_map.py). Here it learns which test
runs. A process that a test starts takes the name of the test from pytest's ``PYTEST_CURRENT_TEST``
when it begins (its coverage settings).
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import coverage
import pytest
from hypothesis import settings

from coordinator_server.testing import forks

# Where the processes write: DIRECTORY/tests.PID, a line of JSON for each test.
DIRECTORY = "MUTATION_RECORD"
# Of the tests that ran in this process.
_seconds: dict[str, float] = {}
_failed: set[str] = set()


def pytest_configure(config: pytest.Config) -> None:
    derandomize()


def derandomize() -> None:
    """Let Hypothesis draw the same examples in each run, so that a mutant has one result."""
    settings.register_profile("mutation", parent=settings.default, derandomize=True, database=None)
    settings.load_profile("mutation")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Any:
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.switch_context(item.nodeid)
    clock = Clock()
    try:
        return (yield)
    finally:
        _close_template()
        _seconds[item.nodeid] = clock.seconds()
        if measured is not None:
            measured.switch_context("")


def _close_template() -> None:
    """End the process that forks servers (coordinator_server.testing), so that the next test starts its own,
    which takes its name.
    """
    for template in forks._templates.values():
        template.close()
    forks._templates.clear()


class Clock:
    """Seconds of a test as on a machine that has nothing else to do, as far as can be told.

    Those of the processor; for a test that has waited for processes, those of the clock, shared among all that want the processor.
    """

    def __init__(self) -> None:
        self._began = time.monotonic(), time.process_time(), _of_children()

    def seconds(self) -> float:
        clock, own, of_children = self._began
        if _of_children() == of_children:
            return time.process_time() - own
        share = len(os.sched_getaffinity(0)) / max(os.getloadavg()[0], 0.1)
        return (time.monotonic() - clock) * min(share, 1.0)


def _of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Take down fixtures of modules and of the session too, so that each test starts its own server, which takes its name."""
    if has_shared_fixtures(item):
        item.session._setupstate.teardown_exact(None)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.add(report.nodeid)


def has_shared_fixtures(item: pytest.Item) -> bool:
    """True if a fixture of the project lives longer than the test: only the first test that uses it runs its lines.

    A Spark session, which takes long to start, counts for the first test.
    """
    found = getattr(item, "_fixtureinfo", None)
    if found is None:
        return False
    definitions = [each for definitions in found.name2fixturedefs.values() for each in definitions]
    return any(each.scope != "function" and each.baseid.startswith("tests/") and each.argname != "spark" for each in definitions)


def pytest_sessionfinish(session: pytest.Session) -> None:
    lines = [json.dumps([nodeid, round(seconds, 4), nodeid not in _failed]) for nodeid, seconds in _seconds.items()]
    if lines:
        Path(os.environ[DIRECTORY], f"tests.{os.getpid()}").write_text("\n".join(lines) + "\n")
    measured = coverage.Coverage.current()
    if measured is not None and hasattr(session.config, "workerinput"):
        measured.stop()
        measured.save()
