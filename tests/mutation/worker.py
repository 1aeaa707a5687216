"""A process that runs tests against one mutant after the other, in a copy of the tree.

    python -m tests.mutation.worker        # in the copy; reads orders as lines of JSON, and writes what came of each

It has imported pytest and the libraries, but nothing of the project: each order runs in a fork of it, which imports the rest from
the mutated tree. A fork that ends by itself says so; one that hangs is killed, and so is every process that it leaves behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

LIBRARIES: Final = (
    "aiokafka",
    "asyncio",
    "confluent_kafka",
    "coverage",
    "cramjam",
    "crc32c",
    "hypothesis.stateful",
    "hypothesis.strategies",
    "msgspec",
    "numpy",
    "pytest_asyncio",
    "structlog",
    "uvloop",
)
PR_SET_CHILD_SUBREAPER: Final = 36
MEMORY: Final = 4 << 30
FILE: Final = 2 << 30
# A test hangs when it takes this much more than it did when it was measured.
PATIENCE: Final = 5
PATIENCE_VARIABLE: Final = "MUTATION_PATIENCE_S"
PATIENCE_S: Final = int(os.environ.get(PATIENCE_VARIABLE, "15"))
# Of pytest: all passed, some failed, it was stopped, there were no tests.
EXIT_CODES: Final = (0, 1, 2, 5)


@dataclass
class Order:
    """Run these tests, in this order, against this text of one file. No test begins after `most_s`."""

    path: str
    text: str
    tests: list[str]
    seconds: list[float]
    most_s: float


@dataclass
class Outcome:
    """`status` is passed, killed, hung, or broken if the tests could not run; `by` is the test that failed, `why` its message."""

    status: str
    by: str = ""
    why: str = ""
    ran: int = 0
    is_cut_short: bool = False


class Watching:
    """The plugin in a fork: sorts out the tests, and tells the worker what begins and what fails."""

    def __init__(self, order: Order, pipe: int) -> None:
        self._places = {test: place for place, test in enumerate(order.tests)}
        self._until = time.monotonic() + order.most_s
        self._pipe = pipe

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        from tests.mutation.record import derandomize

        derandomize()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep a file's tests together, for the sake of its fixtures; files are in the order of their first tests."""
        kept = [item for item in items if item.nodeid in self._places]
        first: dict[str, int] = {}
        for item in kept:
            file = item.nodeid.partition("::")[0]
            first[file] = min(first.get(file, len(self._places)), self._places[item.nodeid])
        kept.sort(key=lambda item: (first[item.nodeid.partition("::")[0]], self._places[item.nodeid]))
        items[:] = kept

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        if time.monotonic() > self._until:
            self._tell("late", "")
            item.session.shouldstop = "out of time"
        else:
            self._tell("begin", item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._tell("fail", report.nodeid, _last_line(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._tell("fail", report.nodeid, _last_line(report))

    def _tell(self, *words: str) -> None:
        os.write(self._pipe, json.dumps(words).encode() + b"\n")


def _last_line(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    return " ".join(text.split())[:300]


def run(order: Order) -> Outcome:
    """Fork, run the tests there, and leave no process behind."""
    scratch = Path(tempfile.mkdtemp(prefix="mutant-"))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _run_tests(order, writer, scratch)
    os.close(writer)
    try:
        return _watch(order, child, reader)
    finally:
        os.close(reader)
        end_children()
        shutil.rmtree(scratch, ignore_errors=True)


def _run_tests(order: Order, pipe: int, scratch: Path) -> NoReturn:
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
        out = os.open(scratch / "out", os.O_CREAT | os.O_WRONLY)
        for descriptor in (1, 2):
            os.dup2(out, descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        files = list(dict.fromkeys(test.partition("::")[0] for test in order.tests))
        words = ["-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "faulthandler_timeout=0", f"--basetemp={scratch / 't'}"]
        code = int(pytest.main([*words, *files], plugins=[Watching(order, pipe)]))
    except BaseException:  # noqa: BLE001  # whatever it is, this process ends here
        os.write(pipe, json.dumps(["fail", "", traceback.format_exc()[-300:]]).encode() + b"\n")
        code = 70
    os._exit(code)


def _watch(order: Order, child: int, pipe: int) -> Outcome:
    limits = dict(zip(order.tests, order.seconds, strict=True))
    outcome, current = Outcome("passed"), ""
    told = _Told(pipe)
    for what, test, *why in told:
        if what == "begin":
            outcome.ran, current = outcome.ran + 1, test
            told.until = time.monotonic() + PATIENCE_S + PATIENCE * limits.get(test, 1.0)
        elif what == "late":
            outcome.is_cut_short = True
        elif outcome.status == "passed":
            outcome.status, outcome.by, outcome.why = "killed", test, why[0]
    if told.is_late:
        return Outcome("hung", current, f"no end after {PATIENCE} times its seconds", outcome.ran)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if outcome.status == "passed" and code < 0:
        return Outcome("killed", current, f"signal {-code}", outcome.ran)
    if outcome.status == "passed" and code not in EXIT_CODES:
        return Outcome("broken", current, f"pytest ended with {code}", outcome.ran)
    return outcome


class _Told:
    """What the fork tells until it ends, or until it is late."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self.until = time.monotonic() + 4 * PATIENCE_S
        self.is_late = False

    def __iter__(self) -> Iterator[list[str]]:
        rest = b""
        while True:
            if not select.select([self._pipe], [], [], max(0.0, self.until - time.monotonic()))[0]:
                self.is_late = True
                return
            chunk = os.read(self._pipe, 65536)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (json.loads(line) for line in lines)


def adopt_orphans() -> None:
    """Let processes that lose their parent become children of this one, so that it can end them."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children() -> None:
    """Kill every process below this one. Those that a dead one leaves behind come up one level at a time."""
    while True:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        for child in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(int(child), 0)
        if not children:
            return


class Mutated:
    """While it is open, a file of the tree has this text, and no bytecode of the other."""

    # A time for each text: bytecode is known by the second and the size of its source.
    _next_time = int(time.time()) - 10_000_000

    def __init__(self, path: Path, text: str) -> None:
        self._path, self._text = path, text

    def __enter__(self) -> None:
        self._kept = self._path.read_bytes()
        self._write(self._text.encode())

    def __exit__(self, *_: object) -> None:
        self._write(self._kept)

    def _write(self, data: bytes) -> None:
        for compiled in (self._path.parent / "__pycache__").glob(f"{self._path.stem}.*.pyc"):
            compiled.unlink()
        self._path.write_bytes(data)
        Mutated._next_time += 2
        os.utime(self._path, (Mutated._next_time, Mutated._next_time))


def import_libraries() -> None:
    """What most tests import. Nothing that starts threads, and nothing of the project."""
    for name in LIBRARIES:
        importlib.import_module(name)


def _end(*_: object) -> NoReturn:
    end_children()
    os._exit(1)


def main() -> None:
    adopt_orphans()
    # ctrl-C is for the process that gives the orders: it ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    import_libraries()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        order = Order(**json.loads(line))
        with Mutated(Path(order.path), order.text):
            outcome = run(order)
        answers.write(json.dumps(asdict(outcome)) + "\n")


if __name__ == "__main__":
    main()
