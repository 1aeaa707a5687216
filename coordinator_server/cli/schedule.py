"""The daemon behind ``pipeline --every``: jobs at regular times, in one Spark session that stays open.

    round    at its time, if the log has grown enough (pipeline/schedule.py): the jobs one after the other
    report   after each job and each round: a line on stdout, and the whole of it to control.sock of the server

A job that finds the server starting or stopping waits for it, and then gives way to the next round. A job that fails ends its
round, and the next one tries again, with a new session. What no later round can mend ends the daemon with exit code 1: states
that differ, a damaged log, a result that differs from its input. SIGTERM ends it with exit code 0, in the middle of a job, too:
all jobs publish everything or nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NoReturn

import msgspec

from coordinator_server.cli.engines import extra_needed, spark_session
from coordinator_server.cli.jobs import Job, JobDone
from coordinator_server.cli.output import complain, note, say, say_json
from coordinator_server.cli.times import shown
from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.pipeline.errors import Busy, CannotRun, GateClosed, NotReady, PipelineError, ShardDamaged
from coordinator_server.pipeline.input.data_dir import ask_server
from coordinator_server.pipeline.input.retries import RETRY_S
from coordinator_server.pipeline.report import SCHEDULE, JobRun, JobTotals, Outcome, ScheduleReport
from coordinator_server.pipeline.schedule import Rule, Schedule, segment_sizes

# How long a job waits for a server that starts, stops or loads, at least.
_SHORTEST_WAIT_S: Final = RETRY_S
# After these the log needs a person.
_FINAL: Final = (DamagedLog, GateClosed, ShardDamaged)


class _Stopped(BaseException):
    """SIGTERM or ctrl-C has arrived."""


class Rounds:
    """The rounds of a schedule, with ``jobs`` by name."""

    def __init__(self, options: argparse.Namespace, jobs: Mapping[str, Job]) -> None:
        self._options = options
        options.wait_s = max(_SHORTEST_WAIT_S, options.every / 1000)
        self._jobs = [(name, jobs[name]) for name in options.jobs]
        self._schedule = Schedule(options.every, Rule(options.min_bytes, options.longest), _steady_ms())
        self._session = WarmSession(options)
        self._report = ScheduleReport(os.getpid(), options.engine, options.every, _now_ms())
        self._report.jobs = {name: JobTotals() for name in options.jobs}
        self._is_first = True

    def run(self) -> int:
        """Run rounds until a signal or a final failure. Return the exit code. Raises CannotRun in the first round."""
        try:
            with _stopped_by(signal.SIGTERM, signal.SIGINT) as is_stopped, self._session:
                while not is_stopped():
                    wait_ms = self._schedule.next_ms - _steady_ms()
                    self._report.next_ms = _now_ms() + max(0, wait_ms)
                    self._tell()
                    time.sleep(max(0.0, wait_ms / 1000))
                    if code := self._round():
                        return code
        except _Stopped:
            pass
        return 0

    def _round(self) -> int:
        now_ms, sizes = _steady_ms(), segment_sizes(self._options.data_dir)
        self._schedule.begin_round(now_ms)
        self._report.new_bytes = self._schedule.new_bytes(sizes)
        if not self._schedule.is_due(sizes, now_ms):
            self._report.rounds_skipped += 1
            return 0
        self._report.rounds += 1
        for name, job in self._jobs:
            run, is_final = self._run(name, job)
            self._report.jobs[name].add(run)
            self._report.running = ""
            self._print(run)
            if is_final:
                self._tell()
                return 1
            if run.outcome is Outcome.FAILED:
                self._session.drop()
            if run.outcome is not Outcome.DONE:
                return 0
        self._schedule.ran(sizes, now_ms)
        return 0

    def _run(self, name: str, job: Job) -> tuple[JobRun, bool]:
        """Run a job. Return what came of it, and whether that ends the daemon."""
        self._report.running = name
        self._tell()
        started_ms, started_s = _now_ms(), time.monotonic()

        def ended(outcome: Outcome, said: str, done: JobDone | None = None) -> JobRun:
            run = JobRun(name, outcome, started_ms, round(time.monotonic() - started_s, 3), said)
            return run if done is None else msgspec.structs.replace(run, counts=done.counts)

        try:
            self._session.warm_up()
            done = job(self._options)
        except (NotReady, Busy) as error:
            return ended(Outcome.NOT_READY, str(error)), False
        except CannotRun as error:
            if self._is_first:
                raise
            return ended(Outcome.FAILED, str(error)), False
        except (PipelineError, LogError, OSError) as error:
            return ended(Outcome.FAILED, str(error)), isinstance(error, _FINAL)
        except self._session.errors as error:
            return ended(Outcome.FAILED, f"Spark gave up: {self._session.gist(error)}"), False
        self._is_first = False
        for text in done.notes:
            note(text)
        if done.code:
            return ended(Outcome.DIFFERS, "; ".join(done.lines), done), True
        return ended(Outcome.DONE, "; ".join(done.lines), done), False

    def _print(self, run: JobRun) -> None:
        if self._options.json:
            say_json(run)
        else:
            word = "" if run.outcome is Outcome.DONE else f" {run.outcome}:"
            say([f"{shown(run.started_ms)} {run.job}:{word} {run.said}"])
        if run.outcome in (Outcome.FAILED, Outcome.DIFFERS):
            note(f"{run.job} {run.outcome}: {run.said}")

    def _tell(self) -> None:
        """Notify the server, if one runs and listens. What it misses is in the next report."""
        with contextlib.suppress(PipelineError, OSError):
            ask_server(self._options.data_dir, {"op": "pipeline-report", "by": SCHEDULE, "report": self._report})


class WarmSession:
    """A Spark session that is opened when a job first needs it, and stays open until it breaks. Nothing with the plain engine."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._stack = ExitStack()
        self._is_alive: Callable[[], bool] | None = None
        # What a session raises whose JVM has died, and the line of such an error that says the reason.
        self.errors: tuple[type[Exception], ...] = ()
        self.gist: Callable[[Exception], str] = str

    def __enter__(self) -> WarmSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()

    def warm_up(self) -> None:
        """Open a session, unless one is open and answers. Raises CannotRun."""
        if self._options.engine == "python" or (self._is_alive is not None and self._is_alive()):
            return
        self.drop()
        with extra_needed("spark engine", ", or use --engine python"):
            from coordinator_server.pipeline.spark.session import ERRORS, gist, is_alive
        self.errors, self.gist = ERRORS, gist
        spark = self._stack.enter_context(spark_session(self._options))
        self._is_alive = lambda: is_alive(spark)

    def drop(self) -> None:
        """Close the session; the next ``warm_up`` opens another."""
        stack, self._stack, self._is_alive = self._stack, ExitStack(), None
        stack.close()


def run_on_schedule(options: argparse.Namespace, jobs: Mapping[str, Job]) -> int:
    """Run the jobs on the schedule that the options describe, and return the exit code."""
    try:
        return Rounds(options, jobs).run()
    except CannotRun as error:
        return complain(error, 2)


@contextmanager
def _stopped_by(*numbers: signal.Signals) -> Iterator[Callable[[], bool]]:
    """Raise _Stopped for the first of these signals, wherever the program is. Later ones do not disturb the end.

    Give a function that returns whether there was one: what it has interrupted may have raised an error of its own instead.
    """
    before: Sequence[Any] = [signal.getsignal(number) for number in numbers]
    seen: list[int] = []

    def stop(signalled: int, _frame: object) -> NoReturn:
        seen.append(signalled)
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise _Stopped

    for number in numbers:
        signal.signal(number, stop)
    try:
        yield lambda: bool(seen)
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _steady_ms() -> int:
    return time.monotonic_ns() // 1_000_000
