"""Options and rules of the whole test suite.

`make test` runs it in several processes (pytest-xdist, ``-n auto``), and each takes a whole file at a time (tests/parallel.py).
What a test must keep to for that:

- It listens on ports that the kernel gives it, and writes below ``tmp_path`` alone.
- Fixtures of a session start once per process, not once: a server is cheap enough for that, a broker or a Spark session is not.
  Tests that share one are in one file, or in a directory of ``parallel.ALONE``.
- Its servers and commands are forks of a process that has imported everything (tests/support/command_forks.py),
  but for what it starts itself.
- Parameters are the same in every process: none is drawn, and none comes from a set.
- Other tests take processor time meanwhile: it waits for what happens (tests/support/eventually.py),
  not for a time in which it should have happened.

``-n0`` runs all in one process, for a debugger or ``-s``. A test that hangs for ``faulthandler_timeout`` ends its process with
the stacks of its threads; it has failed then, and another process goes on with the rest.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import coverage_report
from tests.parallel import UnitScheduling, processes

# Imports and collected tests are millions of objects that stay to the end. The garbage collector need not look through them again
# and again: that is a twentieth of the whole run.
gc.disable()

# Where no bytecode may be written, each server that a test starts compiles all its sources again,
# which takes longer than most tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# How long an example takes says something about the machine, and nothing about the code. Under CI Hypothesis takes a profile
# of its own, which says so, too.
if "CI" not in os.environ:
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("coordinator-server")
    group.addoption("--crash-rounds", type=int, default=8, metavar="N", help="rounds of the kill -9 test (default 8)")
    group.addoption("--every-syscall", action="store_true", help="kill the log at every system call, not at a sample of them")
    group.addoption(
        "--ledger-seconds",
        type=float,
        default=0,
        metavar="N",
        help="how long stock producers move offsets while servers and clients are killed (default: two rounds)",
    )
    group.addoption("--rewrite", action="store_true", help="write the transcripts of tests/scenarios anew; read the diff")
    group.addoption("--bootstrap", metavar="HOST:PORT", help="run the interop tests against a server that is there already")
    group.addoption(
        "--differential-sequences",
        type=int,
        default=None,
        metavar="N",
        help="random sequences of tests/differential (default: the fifty that have a transcript of what Kafka says)",
    )
    group.addoption("--live", action="store_true", help="ask a Kafka broker in tests/differential, not the transcripts")
    group.addoption("--record", action="store_true", help="the same, and write tests/data/differential anew; read the diff")
    group.addoption(
        "--clients",
        default="",
        metavar="NAMES",
        help="run the contract of tests/interop with these clients: all, or java,franz-go,…",
    )
    group.addoption(
        "--nodes",
        type=int,
        default=0,
        metavar="N",
        help="run it against so many nodes over a PostgreSQL, one of which is killed; with tests/differential none is",
    )
    group.addoption(
        "--seed", type=int, default=None, metavar="N", help="seed of tests that draw at random; printed when they fail"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(coverage_report)
    # A shell has what runs in the background ignore SIGINT, and so would all programs that tests start, and stop with it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    return processes()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> Any:
    return UnitScheduling(config) if config.option.dist == "load" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What asks a broker and nothing else is no part of a run that has none:
    left out here, where a skip would be a tool that is missing.
    """
    if config.getoption("--live") or config.getoption("--record"):
        return
    if live := [item for item in items if item.get_closest_marker("live")]:
        config.hook.pytest_deselected(items=live)
        items[:] = [item for item in items if not item.get_closest_marker("live")]


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Under CI nothing is optional: a test skipped for want of a tool fails the run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    skipped = reporter.stats.get("skipped", [])
    if os.environ.get("CI") == "true" and skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.ensure_newline()
        for report in skipped:
            reporter.write_line(f"CI: skipped, so failed: {report.nodeid}", red=True)
