"""The daemon of a schedule, with jobs that the test plays."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli.jobs import Job, JobDone
from coordinator_server.cli.schedule import WarmSession, run_on_schedule
from coordinator_server.cli.times import duration_ms
from coordinator_server.log.errors import DamagedLog
from coordinator_server.pipeline.errors import Busy, CannotRun, GateClosed, NotReady, ShardDamaged, ShardFailed
from coordinator_server.pipeline.report import Counts


def done(code: int = 0) -> JobDone:
    return JobDone(code, ["4 shards", "differ"] if code else ["4 shards"], {}, Counts(shards=4), ["a note"])


class Played:
    """A job with an outcome for each run. When none is left, the daemon gets SIGTERM in the middle of the job."""

    def __init__(self, outcomes: Sequence[JobDone | Exception]) -> None:
        self.left = list(outcomes)
        self.runs = 0

    def __call__(self, _options: argparse.Namespace) -> JobDone:
        self.runs += 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGTERM)
            raise AssertionError("SIGTERM did not end the job")
        outcome = self.left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., int]:
    """Run these jobs each millisecond. Every round has enough to do."""

    def run(**jobs: Job) -> int:
        options = argparse.Namespace(
            jobs=list(jobs), every=1, min_bytes=0, longest=1, engine="python", json=False, data_dir=tmp_path, no_wait=True
        )
        return run_on_schedule(options, jobs)

    return run


def test_sigterm_ends_it_in_the_middle_of_a_job(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    """With exit code 0, and the handlers of before. Each run has a line."""
    before = signal.getsignal(signal.SIGTERM)
    compact, verify = Played([done(), done()]), Played([done()])

    assert run(compact=compact, verify=verify) == 0

    assert (compact.runs, verify.runs) == (2, 2)
    said = capsys.readouterr()
    assert [line.split(" ", 1)[1] for line in said.out.splitlines()] == [
        "compact: 4 shards",
        "verify: 4 shards",
        "compact: 4 shards",
    ]
    assert said.err.splitlines() == ["coordinator-server: a note"] * 3
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("error", [OSError("the JVM has died"), ShardFailed("Spark gave up")])
def test_sigterm_ends_a_job_that_fails_of_it(run: Callable[..., int], error: Exception) -> None:
    """What was interrupted may raise an error of its own, and the signal would be forgotten."""
    runs = []

    def compact(_options: argparse.Namespace) -> JobDone:
        runs.append(1)
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            raise error

    assert run(compact=compact) == 0
    assert len(runs) == 1


def test_a_jvm_that_dies_in_a_call_ends_the_round_and_no_more(
    run: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the call raises."""

    class Died(Exception):
        pass

    def warm_up(session: WarmSession) -> None:
        session.errors = (Died,)

    monkeypatch.setattr(WarmSession, "warm_up", warm_up)
    failing: Any = Died("no answer")
    compact = Played([failing, done()])

    assert run(compact=compact) == 0

    assert compact.runs == 3
    assert "compact: failed: Spark gave up: no answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    "passing", [NotReady("it starts"), Busy("another compaction"), ShardFailed("Spark gave up"), OSError("no room")]
)
def test_what_passes_ends_the_round_and_no_more(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], passing: Exception
) -> None:
    """The next round begins with the first job."""
    compact, verify = Played([passing, done()]), Played([])

    assert run(compact=compact, verify=verify) == 0

    assert (compact.runs, verify.runs) == (2, 1)
    assert str(passing) in capsys.readouterr().out


@pytest.mark.parametrize(
    "final", [done(1), DamagedLog("a.log", 7, "bad"), GateClosed("differs"), ShardDamaged("a.log at byte 7")], ids=str
)
def test_what_no_round_can_mend_is_loud(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], final: JobDone | Exception
) -> None:
    """Exit code 1 and a line on stderr, and nothing is compacted any more."""
    verify, compact = Played([done(), final]), Played([done()])

    assert run(verify=verify, compact=compact) == 1

    assert (verify.runs, compact.runs) == (2, 1)
    said = capsys.readouterr()
    what = "differs" if isinstance(final, JobDone) else "failed"
    assert f"verify: {what}: " in said.out.splitlines()[-1]
    assert said.err.splitlines()[-1].startswith(f"coordinator-server: verify {what}: ")


def test_wrong_options_are_told_at_once(run: Callable[..., int]) -> None:
    """Exit code 2 in the first round. Later the server may be of a different release for a while."""
    assert run(verify=Played([CannotRun("no data directory")])) == 2
    assert run(verify=Played([done(), CannotRun("digests of format 9"), done()])) == 0


def test_a_job_is_told_to_wait_for_the_server(run: Callable[..., int]) -> None:
    """As long as until the next round, and not for less than other commands wait."""
    waits = []

    def verify(options: argparse.Namespace) -> JobDone:
        waits.append(options.wait_s)
        raise DamagedLog("a.log", 7, "bad")

    run(verify=verify)

    assert waits == [30.0]


def test_durations() -> None:
    """A whole number and a unit."""
    assert [duration_ms(text) for text in ("250ms", "90s", "10m", "1h", "1d")] == [250, 90_000, 600_000, 3_600_000, 86_400_000]
    for wrong in ("10", "0s", "-1s", "1.5h", "m", "10 m"):
        with pytest.raises(argparse.ArgumentTypeError, match="is not a time"):
            duration_ms(wrong)
