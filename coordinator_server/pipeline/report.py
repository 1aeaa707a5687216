"""What a job of a schedule has done, and what a schedule has done so far: the reports that go to ``control.sock``.

A report has everything since the schedule began, so that a server that has restarted needs only the next one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct, field

# The report's place among those of the server.
SCHEDULE: Final = "schedule"


class Outcome(StrEnum):
    """How a run of a job ended."""

    DONE = "done"
    NOT_READY = "not-ready"  # the server starts or stops, or another job has the log; the next round tries again
    FAILED = "failed"
    DIFFERS = "differs"  # verify has found different states


class Counts(Struct, frozen=True):
    """What a job has read and published. ``is_equal`` is whether all digests are equal, or None of a job that compares none."""

    shards: int = 0
    records_in: int = 0
    bytes_in: int = 0
    records: int = 0
    bytes: int = 0
    files: int = 0
    is_equal: bool | None = None


class JobRun(Struct, frozen=True):
    """A run of a job. ``started_ms`` is in ms since 1970; ``said`` is the job's line, or the reason of its failure."""

    job: str
    outcome: Outcome
    started_ms: int
    seconds: float
    said: str
    counts: Counts = Counts()


class JobTotals(Struct):
    """All runs of a job: their number by outcome, from 0 on, and the sums of what they did."""

    runs: dict[str, int] = field(default_factory=lambda: dict.fromkeys(map(str, Outcome), 0))
    seconds: float = 0.0
    records_in: int = 0
    bytes_in: int = 0
    last: JobRun | None = None
    last_done_ms: int = 0

    def add(self, run: JobRun) -> None:
        """Count a run."""
        self.runs[run.outcome] += 1
        self.seconds += run.seconds
        self.records_in += run.counts.records_in
        self.bytes_in += run.counts.bytes_in
        self.last = run
        if run.outcome is Outcome.DONE:
            self.last_done_ms = run.started_ms + round(run.seconds * 1000)


class ScheduleReport(Struct):
    """What a schedule has done. Times are in ms since 1970; ``running`` is the job that runs now, or empty.

    ``new_bytes`` is what the log has grown by since the last round that ran.
    """

    pid: int
    engine: str
    every_ms: int
    started_ms: int
    next_ms: int = 0
    running: str = ""
    rounds: int = 0
    rounds_skipped: int = 0
    new_bytes: int = 0
    jobs: dict[str, JobTotals] = {}
