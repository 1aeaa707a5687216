"""Mutants against their tests: in copies of the tree, a worker process in each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from tests.mutation.choosing import Chooser
from tests.mutation.coverage_map import ENVIRONMENT, CoverageMap, hash_of
from tests.mutation.mutants import Mutant
from tests.mutation.trees import copy_tree
from tests.mutation.worker import Order, Outcome

# What the first order of a mutant takes: most mutants do not outlive it.
FIRST_S: Final = 4.0
FIRST_FILES: Final = 6
# How much longer than when they were measured the tests of a mutant may take.
SLOWNESS: Final = 4
# Tests that may fail because other processes have the processor.
WAITING: Final = ("tests/integration/", "tests/spark/")


@dataclass
class Result:
    """`status` is killed, hung (which counts as killed), survived, uncovered, equivalent or broken."""

    mutant: dict[str, Any]
    status: str
    by: str = ""
    why: str = ""
    chosen: int = 0
    ran: int = 0
    is_cut_short: bool = False
    seconds: float = 0.0
    distrusted: list[str] = field(default_factory=list)

    @property
    def is_killed(self) -> bool:
        return self.status in ("killed", "hung")


class Worker:
    """A worker process (tests/mutation/worker.py) in its copy of the tree."""

    def __init__(self, tree: Path) -> None:
        environment = os.environ | ENVIRONMENT | {"PYTHONPATH": str(tree)}
        command = [sys.executable, "-m", "tests.mutation.worker"]
        self._process = subprocess.Popen(
            command, cwd=tree, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, order: Order) -> Outcome:
        orders, outcomes = _pipes(self._process)
        orders.write(json.dumps(vars(order)) + "\n")
        orders.flush()
        line = outcomes.readline()
        if not line:
            raise RuntimeError(f"a worker ended with {self._process.wait()}")
        return Outcome(**json.loads(line))

    def kill(self) -> None:
        self._process.terminate()

    def close(self) -> None:
        _pipes(self._process)[0].close()
        self._process.wait()


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


class Trust:
    """Whether tests pass on the tree as it is, in a copy and beside others.

    A test that kills for the first time is tried; kept in a file.
    """

    def __init__(self, root: Path, path: Path) -> None:
        self._root, self._path, self._lock = root, path, threading.Lock()
        self._known: dict[str, bool] = json.loads(path.read_text()) if path.exists() else {}

    def _key(self, test: str) -> str:
        return f"{test} {hash_of(self._root / test.partition('::')[0])}"

    def is_distrusted(self, test: str) -> bool:
        return self._known.get(self._key(test)) is False

    def passes(self, test: str, run: Callable[[Order], Outcome], seconds: float) -> bool:
        key = self._key(test)
        if key not in self._known:
            anything = "pyproject.toml"
            order = Order(anything, (self._root / anything).read_text(), [test], [seconds], 60)
            passes = run(order).status == "passed"
            with self._lock:
                self._known[key] = passes
                self._path.write_text(json.dumps(self._known, indent=0))
        return self._known[key]


class Trial:
    """Tries mutants in several copies of the tree at once."""

    def __init__(self, root: Path, directory: Path, coverage: CoverageMap, most_s: float) -> None:
        self._root, self._directory, self._most_s = root, directory, most_s
        self._map, self._chooser = coverage, Chooser(root, coverage)
        self._trust = Trust(root, directory / "trusted.json")

    def run(self, mutants: list[Mutant], jobs: int) -> Generator[Result, None, None]:
        """Results in the order of the mutants."""
        workers = [Worker(copy_tree(self._root, self._directory / "trees" / str(number))) for number in range(jobs)]
        idle = list(workers)

        def one(mutant: Mutant) -> Result:
            worker = idle.pop()
            try:
                return self._try(mutant, worker)
            finally:
                idle.append(worker)

        try:
            with ThreadPoolExecutor(jobs) as pool:
                try:
                    yield from pool.map(one, mutants)
                except BaseException:  # ctrl-C, most likely: what runs is not waited for
                    pool.shutdown(wait=False, cancel_futures=True)
                    for worker in workers:
                        worker.kill()
                    raise
        finally:
            for worker in workers:
                worker.close()

    def _try(self, mutant: Mutant, worker: Worker) -> Result:
        began = time.monotonic()
        tests = [test for test in self._chooser.tests(mutant) if not self._trust.is_distrusted(test)]
        result = Result(mutant.as_json(), "survived" if tests else "uncovered", chosen=len(tests))
        some = self._affordable(tests)
        result.is_cut_short = len(some) < len(tests)
        for portion in self._portions(some):
            self._run_portion(result, mutant, portion, worker, began)
            if result.status != "survived":
                break
        result.seconds = round(time.monotonic() - began, 2)
        return result

    def _affordable(self, tests: list[str]) -> list[str]:
        """The first tests, by what they took when they were measured: the same ones on any machine, and at any time."""
        total, number = 0.0, 0
        for test in tests:
            total += self._map.seconds(test)
            if number and total > self._most_s:
                break
            number += 1
        return tests[:number]

    def _run_portion(self, result: Result, mutant: Mutant, tests: list[str], worker: Worker, began: float) -> None:
        """Run these tests, again without those that fail on the tree as it is."""
        while tests:
            left = SLOWNESS * self._most_s - (time.monotonic() - began)
            seconds = [self._map.seconds(test) for test in tests]
            outcome = worker.run(Order(mutant.site.path, mutant.text, tests, seconds, left))
            result.ran += outcome.ran
            result.is_cut_short |= outcome.is_cut_short
            if outcome.status == "passed":
                return
            if outcome.by not in tests or self._is_sure(mutant, outcome, worker):
                result.status, result.by, result.why = outcome.status, outcome.by, outcome.why
                return
            result.distrusted.append(outcome.by)
            tests = [test for test in tests if test != outcome.by]

    def _is_sure(self, mutant: Mutant, outcome: Outcome, worker: Worker) -> bool:
        """True if the test passes without the mutant and, for one that waits for processes, fails with it once more."""
        seconds = self._map.seconds(outcome.by)
        if not self._trust.passes(outcome.by, worker.run, seconds):
            return False
        if not outcome.by.startswith(WAITING):
            return True
        again = worker.run(Order(mutant.site.path, mutant.text, [outcome.by], [seconds], SLOWNESS * self._most_s))
        return again.status != "passed"

    def _portions(self, tests: list[str]) -> Iterator[list[str]]:
        """A first one that is over soon, and the rest."""
        total, files, first = 0.0, set(), 0
        for test in tests:
            files.add(test.partition("::")[0])
            total += self._map.seconds(test)
            if first and (total > FIRST_S or len(files) > FIRST_FILES):
                break
            first += 1
        yield from (some for some in (tests[:first], tests[first:]) if some)
