"""Options and rules of the whole test suite."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine, and nothing about the code. Under CI Hypothesis takes a profile
# of its own, which says so, too.
if "CI" not in os.environ:
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("coordinator-server")
    group.addoption("--crash-rounds", type=int, default=20, metavar="N", help="rounds of the kill -9 test (default 20)")
    group.addoption("--every-syscall", action="store_true", help="kill the log at every system call, not at a sample of them")
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
        "--seed", type=int, default=None, metavar="N", help="seed of tests that draw at random; printed when they fail"
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Under CI nothing is optional: a test skipped for want of a tool fails the run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    skipped = reporter.stats.get("skipped", [])
    if os.environ.get("CI") == "true" and skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        for report in skipped:
            reporter.write_line(f"CI: skipped, so failed: {report.nodeid}", red=True)
